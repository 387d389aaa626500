/* A curve as a picture, in SVG: the values one after the other, with the first, last and smallest one told. */
#ifndef CURVE_H
#define CURVE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* False when the file cannot be written. */
static bool curve_write(const char *path, const char *title, const double *values, int count)
{
    enum { WIDTH = 640, HEIGHT = 360, EDGE = 40 };
    double least = INFINITY, most = 0;
    for (int i = 0; i < count; i++) {
        least = fmin(least, values[i]);
        most = fmax(most, values[i]);
    }
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n"
            "<path d=\"M%d %d V%d H%d\" fill=\"none\" stroke=\"gray\"/>\n"
            "<text x=\"%d\" y=\"20\">%s: first %.4f, last %.4f, smallest %.4f</text>\n"
            "<text x=\"4\" y=\"%d\">%.2f</text><text x=\"4\" y=\"%d\">0</text>\n<polyline fill=\"none\" stroke=\"#06c\" points=\"",
            WIDTH, HEIGHT, WIDTH, HEIGHT, EDGE, EDGE, HEIGHT - EDGE, WIDTH - EDGE, EDGE, title, count > 0 ? values[0] : 0.0,
            count > 0 ? values[count - 1] : 0.0, count > 0 ? least : 0.0, EDGE + 4, most, HEIGHT - EDGE);
    for (int i = 0; i < count; i++)
        fprintf(file, "%.1f,%.1f ", EDGE + (WIDTH - 2.0 * EDGE) * i / (count > 1 ? count - 1 : 1),
                HEIGHT - EDGE - (HEIGHT - 2.0 * EDGE) * (most > 0 ? values[i] / most : 0));
    fprintf(file, "\"/>\n</svg>\n");
    return fclose(file) == 0;
}

#endif
