/* src/raytrace/host/png.h. PNG files.
   Uses: config.h, types.h, files.h, status.h. Used by: functions.h, callers. */
#if RAYT__HOST && !defined(RAYT__EMIT) && !defined(RAYT__PART_PNG)
#define RAYT__PART_PNG
/* PNG (ISO/IEC 15948): chunks with a CRC, in which lie the bits of a zlib stream (RFC 1950, 1951),
   here one block of the fixed Huffman code. Each row holds the differences of its pixels from
   their left neighbours (filter 1). Repeated bytes, such as the zeros of a plain background, become
   runs. Bits are collected into `data` and leave as IDAT chunks of 64 kB. */
typedef struct rayt__png {
    FILE *stream;
    unsigned crc[256];
    unsigned long long bits; /* not yet in data, the next one lowest */
    int bit_count;
    unsigned adler_low, adler_high; /* checksum of the uncompressed bytes */
    size_t used;
    unsigned char data[65536];
} rayt__png;

static inline void rayt__big_endian(unsigned value, unsigned char *bytes)
{
    for (int n = 0; n < 4; n++) bytes[n] = (unsigned char)(value >> (24 - 8 * n));
}

static inline void rayt__chunk(rayt__png *png, const char *type, const unsigned char *data,
                               size_t size)
{
    unsigned char word[4];
    unsigned crc = 0xffffffffu;
    for (size_t n = 0; n < 4; n++) crc = png->crc[(crc ^ (unsigned char)type[n]) & 255] ^ crc >> 8;
    for (size_t n = 0; n < size; n++) crc = png->crc[(crc ^ data[n]) & 255] ^ crc >> 8;
    rayt__big_endian((unsigned)size, word);
    fwrite(word, 1, 4, png->stream);
    fwrite(type, 1, 4, png->stream);
    fwrite(data, 1, size, png->stream);
    rayt__big_endian(~crc, word);
    fwrite(word, 1, 4, png->stream);
}

static inline void rayt__put_byte(rayt__png *png, unsigned byte)
{
    png->data[png->used++] = (unsigned char)byte;
    if (png->used < sizeof png->data) return;
    rayt__chunk(png, "IDAT", png->data, png->used);
    png->used = 0;
}

static inline void rayt__put_bits(rayt__png *png, unsigned bits, int count)
{
    png->bits |= (unsigned long long)bits << png->bit_count;
    png->bit_count += count;
    for (; png->bit_count >= 8; png->bit_count -= 8, png->bits >>= 8)
        rayt__put_byte(png, (unsigned)png->bits & 255);
}

/* A symbol of the fixed code: 0 .. 255 bytes, 256 end, 257 .. 285 lengths. Codes begin with their
   highest bit. */
static inline void rayt__put_symbol(rayt__png *png, unsigned symbol)
{
    unsigned code = symbol < 144   ? 0x30 + symbol
                    : symbol < 256 ? 0x190 + symbol - 144
                    : symbol < 280 ? symbol - 256
                                   : 0xc0 + symbol - 280;
    int length = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
    unsigned reversed = 0;
    for (int n = 0; n < length; n++) reversed |= (code >> n & 1) << (length - 1 - n);
    rayt__put_bits(png, reversed, length);
}

/* `count` more of the byte that came last, 3 <= count <= 258. */
static inline void rayt__put_run(rayt__png *png, unsigned count)
{
    if (count == 258) {
        rayt__put_symbol(png, 285);
    } else { /* lengths 3 .. 257: from 11 on, four symbols for each doubling, and extra bits */
        unsigned rest = count - 3;
        int extra = 0;
        while (rest >> extra >= 8) extra++;
        rayt__put_symbol(png, 257 + 4 * (unsigned)extra + (rest >> extra));
        rayt__put_bits(png, rest & ((1u << extra) - 1), extra);
    }
    rayt__put_bits(png, 0, 5); /* distance 1 */
}

static inline void rayt__put_row(rayt__png *png, const unsigned char *bytes, size_t size)
{
    for (size_t n = 0; n < size;) {
        size_t run = 1;
        while (n + run < size && bytes[n + run] == bytes[n] && run < 259) run++;
        rayt__put_symbol(png, bytes[n]);
        if (run > 3)
            rayt__put_run(png, (unsigned)run - 1);
        else
            run = 1;
        for (size_t end = n + run; n < end; n++) {
            png->adler_low = (png->adler_low + bytes[n]) % 65521;
            png->adler_high = (png->adler_high + png->adler_low) % 65521;
        }
    }
}

RAYT_API rayt_status rayt_write_png(const char *path, const unsigned char *image, int width,
                                    int height)
{
    rayt__file file = {NULL, NULL, NULL};
    rayt_status status = rayt__open(&file, path, image, width, height);
    if (status != RAYT_OK) return status;
    rayt__png *png = (rayt__png *)calloc(1, sizeof *png);
    size_t row_size = 1 + 3 * (size_t)width;
    unsigned char *bytes = (unsigned char *)malloc(row_size);
    if (png == NULL || bytes == NULL) {
        rayt__abandon(&file);
        free(png);
        free(bytes);
        return rayt__fail(RAYT_ERROR_MEMORY, "no host memory to compress a picture");
    }
    png->stream = file.stream;
    png->adler_low = 1;
    for (unsigned n = 0; n < 256; n++) {
        unsigned crc = n;
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320u ^ crc >> 1 : crc >> 1;
        png->crc[n] = crc;
    }
    unsigned char header[13] = {0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0}; /* 8 bits, RGB */
    rayt__big_endian((unsigned)width, header);
    rayt__big_endian((unsigned)height, header + 4);
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, file.stream);
    rayt__chunk(png, "IHDR", header, sizeof header);
    rayt__put_byte(png, 0x78); /* zlib: 32 kB window, fastest */
    rayt__put_byte(png, 0x01);
    rayt__put_bits(png, 3, 3); /* the last block, fixed code */
    for (int row = 0; row < height; row++) {
        const unsigned char *pixels = image + (size_t)row * width * 4;
        bytes[0] = 1;
        for (size_t n = 0; n < (size_t)width; n++)
            for (size_t c = 0; c < 3; c++)
                bytes[1 + 3 * n + c] =
                    (unsigned char)(pixels[4 * n + c] - (n > 0 ? pixels[4 * (n - 1) + c] : 0));
        rayt__put_row(png, bytes, row_size);
    }
    rayt__put_symbol(png, 256);
    rayt__put_bits(png, 0, -png->bit_count & 7);
    unsigned adler = png->adler_high << 16 | png->adler_low;
    for (int n = 24; n >= 0; n -= 8) rayt__put_byte(png, adler >> n & 255);
    if (png->used > 0) rayt__chunk(png, "IDAT", png->data, png->used);
    rayt__chunk(png, "IEND", header, 0);
    free(png);
    free(bytes);
    return rayt__close(&file);
}
#endif
