set -e
cd /tmp/wt/vg/valgrind/vmprof; L=/usr/lib/x86_64-linux-gnu/valgrind; mkdir -p /tmp/vgb
gcc -m64 -O2 -g -std=gnu17 -Wall -Wextra -Wno-unused-function -fno-stack-protector -fno-pie -no-pie -fno-strict-aliasing -fno-builtin -fomit-frame-pointer -DVGA_amd64=1 -DVGO_linux=1 -DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1 -I/usr/include/valgrind -static -nodefaultlibs -nostartfiles -u _start -Wl,--build-id=none -Wl,-Ttext-segment=0x58000000 -Wl,-z,noexecstack -o /tmp/vgb/vmprof-amd64-linux *.c $L/libcoregrind-amd64-linux.a $L/libvex-amd64-linux.a -lgcc $L/libgcc-sup-amd64-linux.a
for f in default.supp vgpreload_core-amd64-linux.so vgpreload_core-x86-linux.so lackey-amd64-linux none-amd64-linux; do ln -sf /usr/libexec/valgrind/$f /tmp/vgb/; done
