#define _GNU_SOURCE /* getline */
#include "live.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- lines ------------------------------------------------------------------------------------------------------- */
void say(const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    vprintf(format, rest);
    va_end(rest);
}

static void say_number(double x) {
    if (isnan(x)) {
        say("\"nan\"");
    } else if (isinf(x)) {
        say(x > 0 ? "\"infinity\"" : "\"-infinity\"");
    } else {
        say("%.17g", x);
    }
}

static void say_field(const char *name, double x) {
    say(", \"%s\": ", name);
    say_number(x);
}

void say_numbers(const char *before, const double *values, size_t count) {
    say("%s[", before);
    for (size_t i = 0; i < count; ++i) {
        if (i) say(", ");
        say_number(values[i]);
    }
    say("]");
}

static json *hear(void) {
    static char *line = NULL;
    static size_t room = 0;
    fflush(stdout);
    if (getline(&line, &room, stdin) < 0) return NULL;
    json *found = json_parse(line);
    if (!found) die("the harness sent no JSON", "line");
    return found;
}

/* End the line that was begun, and read the answer to it. */
static json *answer(void) {
    say("}\n");
    json *found = hear();
    if (!found) exit(0); /* the harness has gone */
    return found;
}

/* -- releases ---------------------------------------------------------------------------------------------------- */
void live_gaussian(const char *label, const double *query, size_t count, double std, double sensitivity, int batch_number,
                   double *released) {
    say("{\"ask\": \"gaussian\", \"label\": \"%s\", \"query\": ", label);
    if (count) {
        say_numbers("", query, count);
    } else {
        say_number(*query);
    }
    say_field("std", std);
    say_field("sensitivity", sensitivity);
    if (batch_number != ALL) say(", \"batches\": [%d]", batch_number);
    json *heard = answer();
    size_t length;
    double *values = json_numbers(json_need(heard, "value"), &length);
    if (length != (count ? count : 1)) die("the answer has another length than the query", label);
    memcpy(released, values, length * sizeof *values);
    free(values);
    json_free(heard);
}

int live_above_threshold(const char *label, int count, double (*query)(int index, void *with), void *with,
                         double threshold, double threshold_scale, double query_scale, double sensitivity,
                         double falls) {
    say("{\"ask\": \"above_threshold\", \"label\": \"%s\", \"count\": %d", label, count);
    say_field("threshold", threshold);
    say_field("threshold_scale", threshold_scale);
    say_field("query_scale", query_scale);
    say_field("sensitivity", sensitivity);
    say_field("falls", falls);
    json *heard = answer();
    while (json_get(heard, "query")) {
        double found = query((int)json_number(heard, "query"), with);
        json_free(heard);
        say("{\"query\": ");
        say_number(found);
        heard = answer();
    }
    int index = json_need(heard, "value")->type == JSON_NULL ? -1 : (int)json_number(heard, "value");
    json_free(heard);
    return index;
}

/* -- batches, noise ---------------------------------------------------------------------------------------------- */
static batch drawn(void) {
    json *heard = answer();
    batch found = {(int)json_number(heard, "batch"), 0, NULL};
    double *indices = json_numbers(json_need(heard, "indices"), &found.size);
    found.indices = need_memory(found.size, sizeof *found.indices);
    for (size_t i = 0; i < found.size; ++i) found.indices[i] = (size_t)indices[i];
    free(indices);
    json_free(heard);
    return found;
}

batch live_batch(const char *label, size_t n, size_t size) {
    say("{\"ask\": \"batch\", \"label\": \"%s\", \"n\": %zu, \"size\": %zu", label, n, size);
    return drawn();
}

batch live_poisson(const char *label, size_t n, double rate) {
    say("{\"ask\": \"poisson\", \"label\": \"%s\", \"n\": %zu", label, n);
    say_field("rate", rate);
    return drawn();
}

double live_noise(const char *label, double std) {
    say("{\"ask\": \"noise\", \"label\": \"%s\"", label);
    say_field("std", std);
    json *heard = answer();
    double value = json_number(heard, "value");
    json_free(heard);
    return value;
}

/* -- cases ------------------------------------------------------------------------------------------------------- */
int live_main(const char *name, algorithm run) {
    json *given = NULL, *heard; /* the case that "again" repeats */
    while ((heard = hear())) {
        const char *what = json_text(heard, "do");
        if (strcmp(what, "end") == 0) break;
        if (strcmp(what, "hello") == 0) {
            printf("{\"dpassay\": 1, \"program\": \"%s\", \"again\": true}\n", name);
            json_free(heard);
            continue;
        }
        if (strcmp(what, "case") == 0) {
            json_free(given);
            given = heard;
        } else {
            json_free(heard);
        }
        if (!given) die("again, before there was a case", "do");
        verdict v = run(json_text(given, "algorithm"), json_need(given, "problem"), json_need(given, "schedule"));
        if (v.unsupported) printf("{\"unsupported\": \"%s\"}\n", v.unsupported);
        if (v.refused) printf("{\"refused\": \"%s\"}\n", v.refused);
    }
    json_free(heard);
    json_free(given);
    return 0;
}
