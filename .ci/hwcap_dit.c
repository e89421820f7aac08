/* qemu's user mode emulates PSTATE.DIT, but does not set HWCAP_DIT (7.2 does not). When preloaded, this
 * sets it if the register that a process may read says that the CPU has the bit. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/auxv.h>

unsigned long getauxval(unsigned long type)
{
    unsigned long (*next)(unsigned long) = dlsym(RTLD_NEXT, "getauxval");
    unsigned long value = next(type);
    if (type == AT_HWCAP && value & HWCAP_CPUID) {
        unsigned long features;
        __asm__("mrs %0, id_aa64pfr0_el1" : "=r"(features));
        if (features >> 48 & 15)
            value |= HWCAP_DIT;
    }
    return value;
}
