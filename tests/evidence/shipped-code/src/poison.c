/* Marks everything that a program reads from standard input as uninitialised, for valgrind's memcheck. Preloaded,
 * so that the program need not know about it. */

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include <valgrind/memcheck.h>

ssize_t read(int file, void *buffer, size_t len)
{
    ssize_t got = syscall(SYS_read, file, buffer, len);
    if (file == STDIN_FILENO && got > 0)
        VALGRIND_MAKE_MEM_UNDEFINED(buffer, got);
    return got;
}
