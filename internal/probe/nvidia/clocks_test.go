package nvidia_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

func TestParseClocks(t *testing.T) {
	t.Parallel()
	const text = "GPU-1b, 100 %, 1755 MHz, 512.30 W, 700.00 W\nUnable to determine the device handle for GPU0000:3B:00.0: Unknown Error\nGPU-3b, [N/A], [Unknown Error], [N/A], [N/A]\n"
	got, err := nvidia.ParseClocks([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []nvidia.Clock{{UUID: "GPU-1b", Util: new(int64(100)), SMClockMHz: new(int64(1755)), PowerW: new(512.3), PowerLimitW: new(700.0)}, {UUID: "GPU-3b"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// A fixture of a reader of nvidia-smi --format=csv in public (infoROM of a Titan X)
	if got, err = nvidia.ParseClocks([]byte("WARNING: infoROM is corrupted at gpu 0000:03:00.0\n" + text)); err != nil || !cmp.Equal(got, want) {
		t.Errorf("with a warning: %+v, %v", got, err)
	}
	for name, in := range map[string]string{
		"nothing": "", "no UTF-8": "\xff", "a message": "Failed to initialize NVML: Driver/library version mismatch\n",
		"another unit": strings.Replace(text, "MHz", "GHz", 1), "no unit": strings.Replace(text, " %", "", 1), "a column less": strings.Replace(text, ", 512.30 W", "", 1),
	} {
		if got, err := nvidia.ParseClocks([]byte(in)); err == nil {
			t.Errorf("%s: read as %+v", name, got)
		}
	}
}

func FuzzParseClocks(f *testing.F) {
	f.Add([]byte("GPU-1b, 100 %, 1755 MHz, 512.30 W, 700.00 W\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		gpus, err := nvidia.ParseClocks(data)
		if err == nil && len(gpus) == 0 {
			t.Error("no GPU and no error")
		}
	})
}
