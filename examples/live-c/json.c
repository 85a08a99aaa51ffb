#include "json.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 200

void die(const char *why, const char *what) {
    fprintf(stderr, "live-c: %s: %s\n", what, why);
    exit(1);
}

void *need_memory(size_t count, size_t size) {
    void *found = calloc(count ? count : 1, size);
    if (!found) die("out of memory", "calloc");
    return found;
}

static json *parse(const char **at, int depth);

static void skip(const char **at) {
    while (isspace((unsigned char)**at)) ++*at;
}

static int take(const char **at, const char *word) {
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0) return 0;
    *at += length;
    return 1;
}

/* A code point as UTF-8. */
static size_t encode(unsigned code, char *out) {
    if (code < 0x80) return out[0] = (char)code, 1;
    if (code < 0x800) return out[0] = (char)(0xC0 | code >> 6), out[1] = (char)(0x80 | (code & 63)), 2;
    out[0] = (char)(0xE0 | code >> 12);
    out[1] = (char)(0x80 | (code >> 6 & 63));
    out[2] = (char)(0x80 | (code & 63));
    return 3;
}

static char *parse_text(const char **at) {
    const char *end = *at + 1;
    while (*end && *end != '"') end += end[0] == '\\' && end[1] ? 2 : 1;
    if (*end != '"') return NULL;
    char *text = need_memory((size_t)(end - *at) * 2, 1), *out = text;
    for (const char *p = *at + 1; p < end; ++p) {
        if (*p != '\\') {
            *out++ = *p;
            continue;
        }
        static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
        const char *known = strchr(from, *++p);
        if (*p == 'u') {
            unsigned code = 0;
            for (int k = 0; k < 4; ++k)
                code = code * 16 + (unsigned)strtol((char[]){isxdigit((unsigned char)p[1]) ? *++p : '0', 0}, NULL, 16);
            out += encode(code, out);
        } else if (known) {
            *out++ = to[known - from];
        } else {
            free(text);
            return NULL;
        }
    }
    *at = end + 1;
    return text;
}

static int parse_items(const char **at, json *into, char close, int depth) {
    size_t room = 0;
    ++*at;
    skip(at);
    if (**at == close) return ++*at, 1;
    for (;;) {
        if (into->count == room) {
            room = room ? 2 * room : 8;
            into->items = realloc(into->items, room * sizeof *into->items);
            into->names = realloc(into->names, room * sizeof *into->names);
            if (!into->items || !into->names) die("out of memory", "realloc");
        }
        char *name = NULL;
        skip(at);
        if (into->type == JSON_OBJECT) {
            if (**at != '"' || !(name = parse_text(at))) return 0;
            skip(at);
            if (*(*at)++ != ':') return free(name), 0;
        }
        json *item = parse(at, depth + 1);
        if (!item) return free(name), 0;
        into->names[into->count] = name;
        into->items[into->count++] = item;
        skip(at);
        if (**at == close) return ++*at, 1;
        if (*(*at)++ != ',') return 0;
    }
}

static json *parse(const char **at, int depth) {
    json *found = need_memory(1, sizeof *found);
    skip(at);
    int good = depth < DEEPEST;
    if (good && (**at == '[' || **at == '{')) {
        found->type = **at == '[' ? JSON_ARRAY : JSON_OBJECT;
        good = parse_items(at, found, **at == '[' ? ']' : '}', depth);
    } else if (good && **at == '"') {
        found->type = JSON_STRING;
        good = (found->text = parse_text(at)) != NULL;
    } else if (good && take(at, "null")) {
        found->type = JSON_NULL;
    } else if (good && (take(at, "true") || take(at, "false"))) {
        found->type = JSON_BOOL;
        found->number = (*at)[-2] == 'u';
    } else if (good) {
        char *end;
        found->type = JSON_NUMBER;
        found->number = strtod(*at, &end);
        good = end != *at;
        *at = end;
    }
    if (good) return found;
    json_free(found);
    return NULL;
}

json *json_parse(const char *text) {
    json *found = parse(&text, 0);
    skip(&text);
    if (!found || !*text) return found;
    json_free(found);
    return NULL;
}

void json_free(json *value) {
    if (!value) return;
    for (size_t i = 0; i < value->count; ++i) {
        json_free(value->items[i]);
        free(value->names[i]);
    }
    free(value->items);
    free(value->names);
    free(value->text);
    free(value);
}

const json *json_get(const json *object, const char *name) {
    if (!object || object->type != JSON_OBJECT) return NULL;
    for (size_t i = 0; i < object->count; ++i)
        if (strcmp(object->names[i], name) == 0) return object->items[i];
    return NULL;
}

const json *json_need(const json *object, const char *name) {
    const json *found = json_get(object, name);
    if (!found) die("is missing", name);
    return found;
}

static double number_of(const json *value, const char *name) {
    if (value->type == JSON_NUMBER) return value->number;
    if (value->type != JSON_STRING) die("is no number", name);
    if (strcmp(value->text, "infinity") == 0) return INFINITY;
    if (strcmp(value->text, "-infinity") == 0) return -INFINITY;
    if (strcmp(value->text, "nan") != 0) die("is no number", name);
    return NAN;
}

double json_number(const json *object, const char *name) { return number_of(json_need(object, name), name); }

const char *json_text(const json *object, const char *name) {
    const json *found = json_need(object, name);
    if (found->type != JSON_STRING) die("is no text", name);
    return found->text;
}

int json_is_true(const json *object, const char *name) { return json_need(object, name)->number != 0; }

double *json_numbers(const json *value, size_t *count) {
    int many = value->type == JSON_ARRAY;
    *count = many ? value->count : 1;
    double *found = need_memory(*count, sizeof *found);
    for (size_t i = 0; i < *count; ++i) found[i] = number_of(many ? value->items[i] : value, "numbers");
    return found;
}

double *json_matrix(const json *value, size_t *n, size_t *d) {
    if (value->type != JSON_ARRAY || !value->count) die("is no matrix", "rows");
    *n = value->count;
    *d = value->items[0]->count;
    double *found = need_memory(*n * *d, sizeof *found);
    for (size_t i = 0; i < *n; ++i) {
        size_t columns;
        double *row = json_numbers(value->items[i], &columns);
        if (columns != *d) die("has rows of different lengths", "matrix");
        memcpy(found + i * *d, row, columns * sizeof *row);
        free(row);
    }
    return found;
}
