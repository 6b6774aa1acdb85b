package nvidia_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

const nvlinks = `GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-9667d95e-0000-1111-2222-333344445555)
	 Link 0: 26.562 GB/s
	 Link 1: <inactive>
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-aaaad95e-0000-1111-2222-333344445555)
NVML: Unable to retrieve NVLink information as all links are inActive
`

func TestParseNVLinks(t *testing.T) {
	t.Parallel()
	want := []nvidia.NVLinks{
		{Index: 0, UUID: "GPU-9667d95e-0000-1111-2222-333344445555", Links: []nvidia.NVLink{{Number: 0, Active: true, GBps: 26.562}, {Number: 1}}},
		{Index: 1, UUID: "GPU-aaaad95e-0000-1111-2222-333344445555", AllInactive: true},
	}
	for name, in := range map[string]string{
		"plain":           nvlinks,
		"with a lost GPU": "Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error\n" + nvlinks,
		// NVIDIA/gpu-operator issue 20: the warning is on the same stream
		"with a warning": nvlinks + "WARNING: infoROM is corrupted at gpu 0000:21:00.0\n",
		"lower case":     strings.ReplaceAll(nvlinks, "inActive", "inactive"),
	} {
		got, err := nvidia.ParseNVLinks([]byte(in))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestParseNVLinksOnOneLine: some releases print what they say of a GPU behind
// its name.
func TestParseNVLinksOnOneLine(t *testing.T) {
	t.Parallel()
	got, err := nvidia.ParseNVLinks([]byte(`GPU 0: NVIDIA RTX A4000 (UUID: GPU-0a0a) Device does not have or support Nvlink
GPU 1: Quadro RTX 5000 (UUID: GPU-0b0b) NVML: Unable to retrieve Nvlink information as all links are inActive
GPU 2: NVIDIA H100 (UUID: GPU-0c0c)
	 Link 0: 26.562 GB/s
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []nvidia.NVLinks{
		{Index: 0, UUID: "GPU-0a0a"},
		{Index: 1, UUID: "GPU-0b0b", AllInactive: true},
		{Index: 2, UUID: "GPU-0c0c", Links: []nvidia.NVLink{{Number: 0, Active: true, GBps: 26.562}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseNVLinksRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"nothing":         {" ", "no output"},
		"no driver":       {"Failed to initialize NVML: Unknown Error", "expected \"GPU 0"},
		"cut in a link":   {nvlinks[:strings.Index(nvlinks, " GB/s")], "expected \"Link 0"},
		"a link twice":    {strings.Replace(nvlinks, "Link 1", "Link 0", 1), "duplicate"},
		"words behind it": {"GPU 0: X (UUID: GPU-0a0a) and more\n", "and more"},
		"only a lost GPU": {"Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error\n", "no GPU"},
		"UTF-16":          {"\xff\xfeG\x00", "UTF-8"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := nvidia.ParseNVLinks([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func FuzzParseNVLinks(f *testing.F) {
	f.Add([]byte(nvlinks))
	f.Fuzz(func(t *testing.T, data []byte) {
		gpus, err := nvidia.ParseNVLinks(data)
		if err == nil && len(gpus) == 0 {
			t.Error("no GPU and no error")
		}
	})
}
