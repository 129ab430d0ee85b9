/* A C99 caller of a .cu file. */
int other_file(int *device);
int from_c(int *device);

int from_c(int *device)
{
    return other_file(device) + 1;
}
