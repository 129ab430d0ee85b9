/* helper_image.h of the CPU runner: comparisons of results, and images in the portable formats (PGM,
 * PPM with 8 bits) as NVIDIA's samples read and write them. */
#ifndef COMMON_HELPER_IMAGE_H_
#define COMMON_HELPER_IMAGE_H_
#include "cucc_set_aside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the differences are small in the sense of the Euclidean norm. */
inline bool sdkCompareL2fe(const float *reference, const float *data, unsigned int count,
                           float epsilon)
{
    double error = 0, norm = 0;
    for (unsigned int i = 0; i < count; i++) {
        double difference = (double)reference[i] - data[i];
        error += difference * difference;
        norm += (double)reference[i] * reference[i];
    }
    if (norm < 1e-30) return error < 1e-30;
    return sqrt(error / norm) < epsilon;
}
template <class T, class E>
bool compareData(const T *reference, const T *data, unsigned int count, E epsilon, float allowed)
{
    unsigned int wrong = 0;
    for (unsigned int i = 0; i < count; i++)
        wrong += !(fabs((double)reference[i] - (double)data[i]) <= (double)epsilon);
    return allowed == 0 ? wrong == 0 : (double)wrong <= (double)allowed * count;
}

/* The next word of the header, after comments. */
inline bool cucc_image_word(FILE *file, char *word)
{
    int c = fgetc(file), n = 0;
    while (c == '#' || c == ' ' || c == '\n' || c == '\r' || c == '\t') {
        while (c == '#' && c != EOF) do
                c = fgetc(file);
            while (c != '\n' && c != EOF);
        c = fgetc(file);
    }
    for (; c != EOF && c > ' ' && n < 15; c = fgetc(file)) word[n++] = (char)c;
    word[n] = 0;
    return n > 0;
}
/* Reads the bytes; *DATA may be null and is then allocated. */
inline bool cucc_load_image(const char *name, unsigned char **data, unsigned int *width,
                            unsigned int *height, unsigned int *channels)
{
    char word[4][16];
    FILE *file = fopen(name, "rb");
    bool read = file != NULL;
    for (int i = 0; read && i < 4; i++) read = cucc_image_word(file, word[i]);
    if (read) read = !strcmp(word[0], "P5") || !strcmp(word[0], "P6");
    if (read) {
        *channels = word[0][1] == '5' ? 1 : 3;
        *width = (unsigned int)atoi(word[1]);
        *height = (unsigned int)atoi(word[2]);
        size_t size = (size_t)*width * *height * *channels;
        if (!*data) *data = (unsigned char *)malloc(size);
        read = fread(*data, 1, size, file) == size;
    }
    if (file) fclose(file);
    if (!read) fprintf(stderr, "%s is no portable image that can be read\n", name);
    return read;
}
inline bool cucc_save_image(const char *name, const unsigned char *data, unsigned int width,
                            unsigned int height, unsigned int channels)
{
    FILE *file = fopen(name, "wb");
    size_t size = (size_t)width * height * channels;
    if (!file) return false;
    fprintf(file, "P%d\n%u %u\n255\n", channels == 1 ? 5 : 6, width, height);
    bool written = fwrite(data, 1, size, file) == size;
    return !fclose(file) && written;
}

template <class T>
bool sdkLoadPGM(const char *name, T **data, unsigned int *width, unsigned int *height)
{
    unsigned char *bytes = NULL;
    unsigned int channels;
    bool read = cucc_load_image(name, &bytes, width, height, &channels) && channels == 1;
    size_t count = read ? (size_t)*width * *height : 0;
    if (read && !*data) *data = (T *)malloc(count * sizeof(T));
    for (size_t i = 0; i < count; i++)
        (*data)[i] = sizeof(T) == 1 ? (T)bytes[i] : (T)((float)bytes[i] / 255.0f);
    free(bytes);
    return read;
}
template <class T>
bool sdkSavePGM(const char *name, const T *data, unsigned int width, unsigned int height)
{
    size_t count = (size_t)width * height;
    unsigned char *bytes = (unsigned char *)malloc(count);
    for (size_t i = 0; i < count; i++)
        bytes[i] = sizeof(T) == 1 ? (unsigned char)data[i] : (unsigned char)(data[i] * (T)255);
    bool written = cucc_save_image(name, bytes, width, height, 1);
    free(bytes);
    return written;
}
inline bool sdkLoadPPM4ub(const char *name, unsigned char **data, unsigned int *width,
                          unsigned int *height)
{
    unsigned char *bytes = NULL;
    unsigned int channels;
    bool read = cucc_load_image(name, &bytes, width, height, &channels) && channels == 3;
    size_t count = read ? (size_t)*width * *height : 0;
    if (read && !*data) *data = (unsigned char *)malloc(count * 4);
    for (size_t i = 0; i < count; i++) {
        memcpy(*data + 4 * i, bytes + 3 * i, 3);
        (*data)[4 * i + 3] = 0;
    }
    free(bytes);
    return read;
}
inline bool sdkSavePPM4ub(const char *name, const unsigned char *data, unsigned int width,
                          unsigned int height)
{
    size_t count = (size_t)width * height;
    unsigned char *bytes = (unsigned char *)malloc(count * 3);
    for (size_t i = 0; i < count; i++) memcpy(bytes + 3 * i, data + 4 * i, 3);
    bool written = cucc_save_image(name, bytes, width, height, 3);
    free(bytes);
    return written;
}
#include "cucc_give_back.h"

#endif
