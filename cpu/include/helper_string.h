/* helper_string.h of the CPU runner: the functions for command lines of NVIDIA's samples, for programs
 * that were taken out of their folder. Options are -NAME, --NAME and -NAME=VALUE. */
#ifndef COMMON_HELPER_STRING_H_
#define COMMON_HELPER_STRING_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <string>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef STRCASECMP
#define STRCASECMP               strcasecmp
#define STRNCASECMP              strncasecmp
#define STRCPY(to, length, from) snprintf(to, length, "%s", from)
#define FOPEN(file, name, mode)  ((file) = fopen(name, mode))
#define FOPEN_FAIL(result)       ((result) == NULL)
#define SSCANF                   sscanf
#define SPRINTF                  sprintf
#endif

inline int stringRemoveDelimiter(char delimiter, const char *text)
{
    int begin = 0;
    while (text[begin] == delimiter) begin++;
    return begin;
}

/* What follows the name of the option, "" if nothing does; null if the option was not given. */
inline const char *cucc_option(int argc, const char **argv, const char *name)
{
    size_t length = strlen(name);
    for (int i = 1; i < argc; i++) {
        const char *text = argv[i] + stringRemoveDelimiter('-', argv[i]);
        if (text == argv[i] || strncasecmp(text, name, length)) continue;
        if (!text[length] || text[length] == '=') return text + length + (text[length] == '=');
    }
    return NULL;
}
inline bool checkCmdLineFlag(int argc, const char **argv, const char *name)
{
    return cucc_option(argc, argv, name) != NULL;
}
inline int getCmdLineArgumentInt(int argc, const char **argv, const char *name)
{
    const char *text = cucc_option(argc, argv, name);
    return text ? atoi(text) : 0;
}
inline float getCmdLineArgumentFloat(int argc, const char **argv, const char *name)
{
    const char *text = cucc_option(argc, argv, name);
    return text ? (float)atof(text) : 0.0f;
}
inline bool getCmdLineArgumentString(int argc, const char **argv, const char *name, char **value)
{
    *value = (char *)cucc_option(argc, argv, name);
    return *value != NULL;
}

/* Beside the program, and in the folders in which the samples have their data. */
inline char *sdkFindFilePath(const char *name, const char *)
{
    const char *const folders[] = {"./",
                                   "./data/",
                                   "../data/",
                                   "../../data/",
                                   "../../../data/",
                                   "../../../Data/",
                                   "../../../../data/"};
    for (const char *folder : folders) {
        std::string path = std::string(folder) + name;
        FILE *file = fopen(path.c_str(), "rb");
        if (!file) continue;
        fclose(file);
        return strdup(path.c_str());
    }
    return NULL;
}

#endif
