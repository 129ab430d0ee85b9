#!/usr/bin/env bash
# The PNG and PPM files of raytrace.cuh, read by readers that are not ours and compared pixel by
# pixel: libpng, Pillow, Python's zlib, whichever the machine has.
# shellcheck disable=SC2012,SC2317,SC2329 # plain names only; functions are called by name
. "$(dirname "$0")/tap.bash"
mkdir "$work/files" || exit 1

# NAME.png, NAME.ppm, and NAME.rgb: the bytes that they must hold
check "the writer builds" cpu/cucc -O0 -Xcompiler -Wall,-Wextra,-Werror tests/raytrace_rules.cu -o "$work/writer"
check "it writes" "$work/writer" "$work/files"
pictures=$(cd "$work/files" && ls ./*.rgb 2>/dev/null | sed 's/^..\(.*\)\.rgb$/\1/')
[ "$(wc -w <<<"$pictures")" = 6 ] || not_ok "six pictures"

# read_all READER FUNCTION: FUNCTION FILE writes the raw pixels
read_all() {
    local picture
    for picture in $pictures; do
        if "$2" "$work/files/$picture.$3" >"$work/read.rgb" 2>"$work/check.txt" &&
            cmp "$work/read.rgb" "$work/files/$picture.rgb" >"$work/check.txt"; then
            ok "$1 reads $picture.$3"
        else
            not_ok "$1 reads $picture.$3" "$work/check.txt"
        fi
    done
}

cat >"$work/libpng.c" <<'END'
#include <png.h>
#include <stdlib.h>
int main(int count, char **words)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (count != 2 || !png_image_begin_read_from_file(&image, words[1])) return 1;
    if (image.format != PNG_FORMAT_RGB || image.warning_or_error) return 2;
    void *pixels = malloc(PNG_IMAGE_SIZE(image));
    if (!pixels || !png_image_finish_read(&image, NULL, pixels, 0, NULL)) return 3;
    return fwrite(pixels, 1, PNG_IMAGE_SIZE(image), stdout) != PNG_IMAGE_SIZE(image);
}
END
by_libpng() { "$work/libpng" "$1"; }
if gcc "$work/libpng.c" -o "$work/libpng" -lpng >"$work/check.txt" 2>&1; then
    read_all libpng by_libpng png
else
    skip "libpng reads the PNG files" "libpng's header or library is not installed"
fi

by_pillow() {
    python3 -c 'import sys; from PIL import Image
image = Image.open(sys.argv[1]); assert image.mode == "RGB"
sys.stdout.buffer.write(image.tobytes())' "$1"
}
if have python3 && python3 -c 'from PIL import Image' 2>"$work/check.txt"; then
    read_all Pillow by_pillow png
    read_all Pillow by_pillow ppm
else
    skip "Pillow reads the PNG and PPM files" "Python's Pillow is not installed"
fi

by_python() { # the chunks and their checksums, zlib, the filter: after the standard, not after ours
    python3 -c 'import struct, sys, zlib
data = open(sys.argv[1], "rb").read(); at = 8; body = b""
assert data[:8] == b"\x89PNG\r\n\x1a\n"
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8]); chunk = data[at + 8:at + 8 + size]
    assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + chunk)
    if kind == b"IHDR": width, height, *rest = struct.unpack(">IIBBBBB", chunk); assert rest == [8, 2, 0, 0, 0]
    if kind == b"IDAT": body += chunk
    at += 12 + size
assert kind == b"IEND"
body = zlib.decompress(body); assert len(body) == height * (3 * width + 1)
for y in range(height):
    row = bytearray(body[y * (3 * width + 1):(y + 1) * (3 * width + 1)]); assert row[0] == 1
    for n in range(4, len(row)): row[n] = (row[n] + row[n - 3]) & 255
    sys.stdout.buffer.write(row[1:])' "$1"
}
if have python3; then
    read_all "Python's zlib" by_python png
else
    skip "Python's zlib reads the PNG files" "python3 is not installed"
fi

# A PPM file is a header and the pixels.
by_tail() {
    local size
    size=$(wc -c <"${1%.ppm}.rgb")
    head -c "-$size" "$1" | tr '\n' ' ' | grep -qE '^P6 [0-9]+ [0-9]+ 255 $' && tail -c "$size" "$1"
}
read_all "tail" by_tail ppm

tap_done
