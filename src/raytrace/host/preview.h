/* src/raytrace/host/preview.h. Previews in a terminal.
   Uses: config.h, types.h, checks.h, status.h. Used by: functions.h, callers. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_PREVIEW)
#define RAYT__PART_PREVIEW
RAYT_API rayt_status rayt_print_ansi(FILE *file, const unsigned char *image, int width, int height,
                                     int columns)
{
    rayt_status status = rayt__check_size("width", width);
    if (status == RAYT_OK) status = rayt__check_size("height", height);
    if (status != RAYT_OK) return status;
    if (file == NULL) return rayt__fail(RAYT_ERROR_ARGUMENT, "file is NULL");
    if (columns < 1 || columns > 1000)
        return rayt__fail(RAYT_ERROR_ARGUMENT, "columns is %d, not within 1 .. 1000", columns);
    if (width == 0 || height == 0) return RAYT_OK;
    if (image == NULL) return rayt__fail(RAYT_ERROR_ARGUMENT, "image is NULL");
    if (columns > width) columns = width;
    /* Pixels of the preview are square, and there are two rows of them to a line. */
    long long lines = ((long long)columns * height + width) / (2ll * width);
    if (lines < 1) lines = 1;
    for (long long line = 0; line < lines; line++) {
        for (long long column = 0; column < columns; column++) {
            unsigned colour[2][3];
            for (int half = 0; half < 2; half++) { /* the mean of the pixels in its rectangle */
                long long x0 = column * width / columns, x1 = (column + 1) * width / columns;
                long long y0 = (2 * line + half) * height / (2 * lines);
                long long y1 = (2 * line + half + 1) * height / (2 * lines);
                if (y1 == y0) y1 = y0 + 1;
                unsigned long long sum[3] = {0, 0, 0};
                for (long long y = y0; y < y1; y++)
                    for (long long x = x0; x < x1; x++)
                        for (int c = 0; c < 3; c++) sum[c] += image[4 * (y * width + x) + c];
                for (int c = 0; c < 3; c++)
                    colour[half][c] =
                        (unsigned)(sum[c] / (unsigned long long)((x1 - x0) * (y1 - y0)));
            }
            /* The upper half of the cell has the foreground colour, the lower the background's. */
            fprintf(file, "\x1b[38;2;%u;%u;%um\x1b[48;2;%u;%u;%um\xe2\x96\x80", colour[0][0],
                    colour[0][1], colour[0][2], colour[1][0], colour[1][1], colour[1][2]);
        }
        fprintf(file, "\x1b[0m\n");
    }
    if (ferror(file)) return rayt__fail(RAYT_ERROR_FILE, "the preview could not be written");
    return RAYT_OK;
}
#endif
