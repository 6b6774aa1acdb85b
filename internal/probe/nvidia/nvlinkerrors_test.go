package nvidia_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// The layout of an H100 and, for GPU 1, also counters of a later generation.
const linkErrors = `GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-9667d95e-0000-1111-2222-333344445555)
	 Link 0: Replay Errors: 0
	 Link 0: Recovery Errors: 3
	 Link 0: CRC Errors: 12

	 Link 1: Replay Errors: N/A
	 Link 1: Recovery Errors: 0
	 Link 1: CRC Errors: 0

GPU 1: NVIDIA B200 (UUID: GPU-aaaad95e-0000-1111-2222-333344445555)
	 Link 0: Tx packets: 123456789
	 Link 0: Malformed packet Errors: 1
	 Link 0: Tx discards: 0
	 Link 0: Link recovery successful events: 505
	 Link 0: Link recovery failed events: 2
	 Link 0: Total link recovery events: 507
	 Link 0: Raw BER Lane 0: 2061
	 Link 0: Raw Errors Lane 0: 82
	 Link 0: Effective Errors: 3
	 Link 0: Effective BER: 15e-254
	 Link 0: Symbol Errors: 4
	 Link 0: FEC Errors - 0: 17941761
	 Link 0: FEC Errors - 15: 0
	 Link 1: <inactive>
GPU 2: NVIDIA H100 80GB HBM3 (UUID: GPU-bbbbd95e-0000-1111-2222-333344445555)
NVML: Unable to retrieve NVLink information as all links are inActive
`

func TestParseNVLinkErrors(t *testing.T) {
	t.Parallel()
	got, err := nvidia.ParseNVLinkErrors([]byte("Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error\n" + linkErrors))
	if err != nil {
		t.Fatal(err)
	}
	want := []nvidia.NVLinkErrors{
		{Index: 0, UUID: "GPU-9667d95e-0000-1111-2222-333344445555", Links: []nvidia.LinkErrors{
			{Number: 0, Counters: map[string]int64{"Replay Errors": 0, "Recovery Errors": 3, "CRC Errors": 12}},
			{Number: 1, Counters: map[string]int64{"Recovery Errors": 0, "CRC Errors": 0}},
		}},
		{Index: 1, UUID: "GPU-aaaad95e-0000-1111-2222-333344445555", Links: []nvidia.LinkErrors{
			{Number: 0, Counters: map[string]int64{"Malformed packet Errors": 1, "Link recovery successful events": 505, "Link recovery failed events": 2, "Total link recovery events": 507, "Effective Errors": 3, "Symbol Errors": 4}},
		}},
		{Index: 2, UUID: "GPU-bbbbd95e-0000-1111-2222-333344445555"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err = nvidia.ParseNVLinkErrors([]byte(linkErrors + "WARNING: infoROM is corrupted at gpu 0000:3B:00.0\n")); err != nil || !cmp.Equal(got, want) {
		t.Errorf("with a warning: %+v, %v", got, err)
	}
	for name, tt := range map[string]struct{ in, want string }{
		"nothing":            {"", "no GPU"},
		"no UTF-8":           {"\xff\xfe", "UTF-8"},
		"a link of no GPU":   {"Link 0: Replay Errors: 0\n", `expected "GPU 0`},
		"another format":     {strings.Replace(linkErrors, "Link 0: Replay Errors: 0", "Replay 0", 1), "line 2"},
		"no number":          {strings.Replace(linkErrors, "CRC Errors: 12", "CRC Errors: many", 1), "expected an error count"},
		"a counter twice":    {strings.Replace(linkErrors, "Recovery Errors: 3", "CRC Errors: 3", 1), "duplicate"},
		"a negative counter": {strings.Replace(linkErrors, "CRC Errors: 12", "CRC Errors: -12", 1), "expected an error count"},
	} {
		if _, err := nvidia.ParseNVLinkErrors([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func FuzzParseNVLinkErrors(f *testing.F) {
	f.Add([]byte(linkErrors))
	f.Fuzz(func(t *testing.T, data []byte) {
		gpus, err := nvidia.ParseNVLinkErrors(data)
		if err == nil && len(gpus) == 0 {
			t.Error("no GPU and no error")
		}
	})
}
