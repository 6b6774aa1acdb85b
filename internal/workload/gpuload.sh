# DCGM has a dcgmproftester for each CUDA major, and each refuses a driver of another one
# ("Wrong version of dcgmproftester is used", DcgmProfTester.cpp): the driver decides.
cuda=$(nvidia-smi -q | sed -n 's/^CUDA \(UMD \)\{0,1\}Version *: *\([0-9][0-9]*\)\..*/\2/p' | head -n 1)
[ -n "$cuda" ] || { echo "nvidia-smi in the container printed no CUDA version: set NVIDIA_DRIVER_CAPABILITIES=compute,utility" >&2; exit 1; }
program="dcgmproftester$cuda"
command -v "$program" >/dev/null || { echo "the image has no $program for the driver's CUDA $cuda, only: $(compgen -c dcgmproftester | sort -u | xargs)" >&2; exit 1; }
exec "$program" --no-dcgm-validation -t 1004 -d "$DURATION"
