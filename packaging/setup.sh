# Makes .venv ready; sourced by packaging/run and packaging/test.
#
# What was done is stamped, so a second start only compares stamps: no pip, no network. Everything is said on
# stderr, for stdout belongs to the program that is started.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
venv=$root/.venv
log=$venv/setup.log
compiled_for="this machine" compiling_min=10

say() { printf '%s\n' "$*" >&2; }

die() {
    say "$@"
    exit 1
}

# The virtual environment.

# ensure_venv EXTRA…: .venv holds Skein with these extras of pyproject.toml.
ensure_venv() {
    if is_set_up "$@"; then return; fi
    mkdir -p "$venv"
    (
        flock --nonblock 9 || { say "Another set-up is running; waiting for it."; flock 9; }
        # The other one may have done it all.
        if ! is_set_up "$@"; then set_up "$@"; fi
    ) 9>"$venv/setup.lock"
}

is_set_up() {
    local extra key
    [[ -x $venv/bin/python ]] || return 1
    key=$(stamp_key)
    for extra in "$@"; do
        [[ -f $venv/ready-$extra && $(<"$venv/ready-$extra") == "$key" ]] || return 1
    done
}

stamped() { [[ ! -f $venv/ready-$1 ]] || printf '%s' "$(<"$venv/ready-$1")"; }

# Changes with the requirements, with llama.cpp's build, with the folder (scripts in .venv name it) and with the Python
# behind it.
stamp_key() {
    { cat "$root/pyproject.toml"; printf '%s\n' "$venv" "$(wanted_llama)" "$(wanted_chat)"; readlink -f "$venv/bin/python"; } | sha256sum
}

set_up() {
    local extra key
    say "Setting up Skein in $venv. This is done once."
    make_venv
    ensure_compiler
    install_skein "$@"
    ensure_rpc
    ensure_chat
    key=$(stamp_key)
    for extra in "$@"; do printf '%s\n' "$key" >"$venv/ready-$extra"; done
    say "Set-up done."
}

make_venv() {
    local python
    if venv_works; then return; fi
    # Half made, moved, or its Python is gone. The lock file must stay.
    rm -rf "${venv:?}"/{bin,include,lib,lib64,share,pyvenv.cfg} "$venv"/ready-*
    python=$(find_python) || python=$(install_python)
    "$python" -m venv "$venv"
}

venv_works() {
    # Its scripts name the folder it was made in.
    [[ -f $venv/pyvenv.cfg && $(<"$venv/pyvenv.cfg")$'\n' == *" $venv"$'\n'* ]] || return 1
    python_fits "$venv/bin/python" && "$venv/bin/python" -m pip --version >/dev/null 2>&1
}

install_skein() {
    local extras reporter failed=''
    extras=$(IFS=,; printf '%s' "$*")
    : >"$log"
    report_progress 9>&- &
    reporter=$!
    # pip stays in the foreground, so that Ctrl+C ends it and its compiler too. What it has built by then is kept in
    # its cache, and the next set-up goes on from there.
    (
        cd "$root"
        ensure_llama && pip_install --editable ".[$extras]"
    ) >>"$log" 2>&1 || failed=yes
    kill "$reporter" 2>/dev/null || true
    wait "$reporter" 2>/dev/null || true
    [[ ! -t 2 ]] || printf '\r\033[K' >&2
    if [[ $(tail -n 3 "$log") == *"cancelled by user"* ]]; then
        die "Set-up stopped. Start again to go on from here."
    elif [[ $failed ]]; then
        say "Set-up failed. The last lines of $log:"
        tail -n 30 "$log" >&2
        [[ $(wanted_gpu) == cpu ]] || say "To go on without the GPU: packaging/run --gpu=cpu"
        die "Start again to go on from here; what is downloaded and compiled is kept."
    fi
    tell_missing_patches
}

pip_install() {
    "$venv/bin/python" -m pip install --verbose --no-input --disable-pip-version-check "$@"
}

# llama.cpp as it is wanted here: for the CPU, or for a kind of GPU, too.

wanted_gpu() { if [[ -f $venv/gpu ]]; then printf '%s' "$(<"$venv/gpu")"; else printf cpu; fi; }

llama_version() { grep -o 'llama-cpp-python==[0-9.]*' "$root/pyproject.toml"; }

# All that makes the build what it is.
wanted_llama() {
    printf '%s-' "$(wanted_gpu)"
    {
        llama_version
        printf '%s\n' "${CMAKE_ARGS:-}"
        cpu_features
        cat "$root"/packaging/{llama_cpp_build.cmake,apply_patch.py}
        wanted_patches | while read -r patch; do cat "$patch"; done
    } | sha256sum | head -c 16
}

# What the compiler makes use of. On another machine, to which this folder was copied, it may be an illegal instruction.
cpu_features() {
    grep -m 1 -E '^(flags|Features)' /proc/cpuinfo 2>/dev/null |
        grep -oE '\b(ssse3|sse4|avx|amx|fma|f16c|bmi|abm|movbe|gfni|asimd|sve|i8mm|bf16)[a-z0-9_]*' || true
}

# Paths, a line each.
wanted_patches() { wants_plain_llama || find "$root/packaging/llama_cpp" -maxdepth 1 -name '*.patch' | sort; }

# Those that do not fit this version of llama.cpp were left out, so that no update waits for them.
tell_missing_patches() {
    local patch
    wanted_patches | while read -r patch; do
        patch=$(basename "$patch" .patch)
        grep -qx "$patch" "$venv"/lib/python3*/site-packages/llama_cpp/patches.txt ||
            say "llama.cpp is built without $patch, which does not fit $(llama_version). All works without it, but slower."
    done
}

# A second llama_cpp without them in $venv/plain, for the tests.
ensure_plain_llama() {
    local wanted
    wanted=$(wanted_llama)-$(sha256sum <"$root/packaging/plain_library.py" | head -c 16)
    [[ $(stamped plain) != "$wanted" ]] || return 0
    PIP_CACHE_DIR=$(llama_cache) "$venv/bin/python" "$root/packaging/plain_library.py" "$venv/plain" &&
        printf '%s\n' "$wanted" >"$venv/ready-plain"
}

wants_plain_llama() { [[ -f $venv/plain-llama ]]; }

# want_llama plain, or patched: remembered for every later start.
want_llama() {
    mkdir -p "$venv"
    if [[ $1 == plain ]]; then touch "$venv/plain-llama"; else rm -f "$venv/plain-llama"; fi
}

# want_gpu KIND: remembered for every later start.
want_gpu() {
    case $1 in
        cuda) need_tool nvcc "CUDA's compiler" nvidia-cuda-toolkit ;;
        vulkan)
            need_tool glslc "the compiler of Vulkan's shaders" glslc libvulkan-dev spirv-headers
            need_file /usr/include/vulkan/vulkan.hpp "Vulkan's headers" libvulkan-dev
            need_vulkan_headers
            need_file '/usr/*/cmake/SPIRV-Headers/SPIRV-HeadersConfig.cmake' "SPIR-V's headers" spirv-headers
            ;;
        metal) [[ $(uname) == Darwin ]] || die "--gpu=metal is for macOS. Here there are cuda, vulkan and cpu." ;;
        cpu) ;;
        *) die "--gpu=$1: choose one of cuda, vulkan, metal and cpu." ;;
    esac
    mkdir -p "$venv"
    printf '%s\n' "$1" >"$venv/gpu"
}

# need_tool PROGRAM WHAT PACKAGE…
need_tool() {
    command -v "$1" >/dev/null || { shift; missing_for_gpu "$@"; }
}

# need_file PATTERN WHAT PACKAGE…: not where an SDK says that it has it.
need_file() {
    [[ -n ${VULKAN_SDK:-} || -n $(compgen -G "$1") ]] || { shift; missing_for_gpu "$@"; }
}

# Older ones lack what llama.cpp uses without asking (VK_EXT_layer_settings).
need_vulkan_headers() {
    local version header=${VULKAN_SDK:-/usr}/include/vulkan/vulkan_core.h
    version=$(sed -n 's/^#define VK_HEADER_VERSION \([0-9]*\)$/\1/p' "$header" 2>/dev/null) || return 0
    if [[ $version ]] && ! grep -q VK_EXT_layer_settings "$header"; then
        die "To build for Vulkan, its headers must be of version 1.3.272 or newer, and $header is of 1.3.$version." \
            "Install the Vulkan SDK of https://vulkan.lunarg.com, set VULKAN_SDK to its folder and start again."
    fi
}

missing_for_gpu() {
    local what=$1
    shift
    die "To build for this GPU, $what is missing. Debian calls the packages: $*. Install them and start again:" \
        $'\n'"  sudo apt-get install $*"
}

gpu_args() {
    case $(wanted_gpu) in
        cuda) printf ' -DGGML_CUDA=ON' ;;
        vulkan) printf ' -DGGML_VULKAN=ON' ;;
        metal) printf ' -DGGML_METAL=ON' ;;
    esac
}

# pip keeps what it compiled and asks neither for what machine nor with what patch that was, so each of our builds has
# a cache of its own.
ensure_llama() {
    local wanted cache args
    wanted=$(wanted_llama)
    [[ $(stamped llama) != "$wanted" ]] || return 0
    rm -f "$venv/ready-llama"
    cache=$(llama_cache) args=$(cmake_args)
    PIP_CACHE_DIR=$cache CMAKE_ARGS=$args \
        pip_install --no-deps --force-reinstall --no-binary llama-cpp-python "$(llama_version)" &&
        printf '%s\n' "$wanted" >"$venv/ready-llama"
}

llama_cache() { printf '%s/skein/pip/%s' "${XDG_CACHE_HOME:-$HOME/.cache}" "$(wanted_llama)"; }

# The part that works with other machines. Without it Skein works on this one, so a failure is only told.
ensure_rpc() {
    [[ $(stamped rpc) != "$(wanted_llama)" ]] || return 0
    PIP_CACHE_DIR=$(llama_cache) "$venv/bin/python" "$root/packaging/rpc_library.py" >>"$log" 2>&1 ||
        say "Skein will not be able to use other machines: llama.cpp's RPC part could not be made. $log tells why."
    printf '%s\n' "$(wanted_llama)" >"$venv/ready-rpc"
}

# llama.cpp's chat layer. Without it there are no tools, and no reasoning told apart, in the API.
ensure_chat() {
    local wanted kept
    wanted=$(wanted_chat) kept=$(chat_cache)
    [[ $(stamped chat) != "$wanted" ]] || return 0
    PIP_CACHE_DIR=$(llama_cache) "$venv/bin/python" "$root/packaging/chat_library.py" "$kept" >>"$log" 2>&1 ||
        say "Skein will know neither tools nor JSON schemas: llama.cpp's chat layer could not be made. $log tells why."
    printf '%s\n' "$wanted" >"$venv/ready-chat"
}

chat_cache() { printf '%s/skein/chat/%s-%s' "${XDG_CACHE_HOME:-$HOME/.cache}" "$(uname -m)" "$(wanted_chat)"; }

wanted_chat() {
    { llama_version; cat "$root"/packaging/chat_library.py "$root"/packaging/llama_cpp/chat/*; } | sha256sum | head -c 16
}

# Builds for the CPU of this machine (the package's default) and only what Skein loads: not llama.cpp's library for its
# own programs, and nothing for videos, which would start ffmpeg. That is 136 build steps instead of 193. The user's
# CMAKE_ARGS go last.
cmake_args() {
    local quoted=\'${root//\'/\'\"\'\"\'}\'
    printf '%s' "-DMTMD_VIDEO=OFF -DCMAKE_PROJECT_llama_cpp_INCLUDE=$quoted/packaging/llama_cpp_build.cmake" \
        "$(gpu_args)" "$(! wants_plain_llama || printf ' -DPLAIN_LLAMA=ON')" "${CMAKE_ARGS:+ $CMAKE_ARGS}"
}

# What is going on.

# On a terminal one line that changes, else a line every 30 seconds. Ends with the set-up.
report_progress() {
    local told='' work elapsed next_line=30
    SECONDS=0
    while sleep 1 && kill -0 $$ 2>/dev/null; do
        work=$(current_work)
        if [[ $work == compiling* && ! $told ]]; then
            [[ ! -t 2 ]] || printf '\r\033[K' >&2
            say "Compiling llama-cpp-python for $compiled_for." \
                "On two cores this takes up to about $compiling_min minutes, once."
            told=yes
        fi
        elapsed=$(printf '%d:%02d' $((SECONDS / 60)) $((SECONDS % 60)))
        if [[ -t 2 ]]; then
            printf '\r\033[K  %s  %s' "$elapsed" "$work" >&2
        elif ((SECONDS >= next_line)); then
            say "  $elapsed  $work"
            next_line=$((SECONDS + 30))
        fi
    done
}

# Read from what pip and the build wrote last.
current_work() {
    local last
    last=$(grep -aoE \
        '^ *\[[0-9]+/[0-9]+\]|Downloading [^ ]+|Running command Building wheel for llama|Installing collected' \
        "$log" | tail -n 1) || true
    case $last in
        *\[*) printf 'compiling llama-cpp-python, step %s' "${last// /}" ;;
        *llama) printf 'compiling llama-cpp-python' ;;
        Downloading*) last=${last##*[ /]} && printf 'downloading %s' "${last%%-[0-9]*}" ;;
        Installing*) printf 'installing the packages' ;;
        *) printf 'looking for packages' ;;
    esac
}

# Python.

# The first Python that fits and can make virtual environments.
find_python() {
    local python
    for python in python3 python3.13 python3.12 python3.11; do
        if python_fits "$python" && "$python" -c 'import ensurepip, venv' 2>/dev/null; then
            printf '%s' "$python"
            return
        fi
    done
    return 1
}

python_fits() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null
}

install_python() {
    # Debian keeps ensurepip in a package of its own.
    install_packages "Python 3.11, 3.12 or 3.13 with venv" python3 python3-venv
    find_python || die "Skein needs Python 3.11, 3.12 or 3.13 with its venv module, and found none on PATH."
}

# The system's packages.

ensure_compiler() {
    if command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null; then return; fi
    install_packages "a C++ compiler (for llama-cpp-python)" g++
}

# What Qt needs to open a window here; `skein ask` does without.
ensure_window_libraries() {
    local platform=xcb stamp=$venv/ready-window missing
    [[ -z ${WAYLAND_DISPLAY:-} ]] || platform=wayland
    if [[ -f $stamp && $(<"$stamp") == "$platform" && ! $venv/ready-gui -nt $stamp ]]; then return; fi
    missing=$(missing_libraries "$platform")
    if [[ $missing ]]; then
        # shellcheck disable=SC2046,SC2086 # a list of names
        install_packages "system libraries for the window" $(debian_packages $missing)
        missing=$(missing_libraries "$platform")
        [[ -z $missing ]] || die "Still missing for the window: ${missing//$'\n'/ }"
    fi
    printf '%s\n' "$platform" >"$stamp"
}

missing_libraries() {
    local qt
    for qt in "$venv"/lib/python3*/site-packages/PySide6; do
        # A file that is not there has no libraries; starting says what is wrong then.
        LC_ALL=C ldd "$qt"/{QtWidgets,QtSvg}.abi3.so "$qt/Qt/plugins/platforms/libq$1.so" 2>/dev/null || true
    done | awk '/not found/ { print $1 }' | sort -u
}

# Debian names a library package after the soname: libEGL.so.1 is in libegl1, libX11.so.6 in libx11-6.
debian_packages() {
    local soname name
    for soname in "$@"; do
        case $soname in
            libglib-2.0.so.0 | libgthread-2.0.so.0) name=libglib2.0-0 ;;
            *[0-9].so.*) name=${soname/.so./-} ;;
            *) name=${soname/.so./} ;;
        esac
        printf '%s\n' "${name,,}"
    done | sort -u
}

ensure_window_test_tools() {
    local missing=()
    command -v Xvfb >/dev/null || missing+=(xvfb)
    command -v openbox >/dev/null || missing+=(openbox)
    command -v xdotool >/dev/null || missing+=(xdotool)
    command -v import >/dev/null || missing+=(imagemagick)
    command -v pcmanfm >/dev/null || missing+=(pcmanfm)
    command -v dbus-run-session >/dev/null || missing+=(dbus-daemon)
    command -v update-desktop-database >/dev/null || missing+=(desktop-file-utils)
    command -v update-mime-database >/dev/null || missing+=(shared-mime-info)
    if ((${#missing[@]})); then install_packages "tools for the tests of the real window" "${missing[@]}"; fi
}

ensure_api_test_tools() {
    if ! command -v curl >/dev/null; then install_packages "curl, for the tests of the API" curl; fi
}

# install_packages WHAT PACKAGE…: as root by apt-get; anyone else is told the command.
install_packages() {
    local what=$1
    shift
    if ! command -v apt-get >/dev/null; then
        die "Missing on this machine: $what. Debian calls the packages: $*. Install them and start again."
    elif ((EUID != 0)); then
        die "Missing on this machine: $what. Install the packages and start again:"$'\n'"  sudo apt-get install $*"
    fi
    say "Installing $what: $*"
    # A fresh clone has no .venv for the log yet, and a fresh system no package lists.
    mkdir -p "${log%/*}"
    apt_install "$@" || { apt-get update --quiet >>"$log" 2>&1 && apt_install "$@"; } || {
        tail -n 10 "$log" >&2
        die "apt-get could not install: $*. All it said is in $log."
    }
}

apt_install() {
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends "$@" >>"$log" 2>&1 </dev/null
}
