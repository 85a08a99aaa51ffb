/* A small JSON reader: one value is a tree of nodes, freed as a whole. */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>

typedef enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } json_type;

typedef struct json {
    json_type type;
    double number;       /* of a number; of a bool 0 or 1 */
    char *text;          /* of a string */
    size_t count;        /* of an array or an object */
    struct json **items; /* of an array or an object */
    char **names;        /* of an object */
} json;

json *json_parse(const char *text); /* NULL where the text is no JSON */
void json_free(json *value);

/* Members of an object; NULL where there is none. */
const json *json_get(const json *object, const char *name);

/* What must be there: these end the program with a message where it is not. */
const json *json_need(const json *object, const char *name);
double json_number(const json *object, const char *name); /* "infinity", "-infinity" and "nan" are numbers, too */
const char *json_text(const json *object, const char *name);
int json_is_true(const json *object, const char *name);

/* The numbers of an array, or of one number, in a new array; *count is how many. */
double *json_numbers(const json *value, size_t *count);

/* The rows of a matrix, one after the other, in a new array; *n rows of *d numbers. */
double *json_matrix(const json *value, size_t *n, size_t *d);

void die(const char *why, const char *what);
void *need_memory(size_t count, size_t size); /* set to zero */

#endif
