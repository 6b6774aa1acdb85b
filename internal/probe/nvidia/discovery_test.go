package nvidia_test

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// The texts are those of dcgmi 3.3.9 and 4.7.0, as users quote them in issues.
func TestParseDiscovery(t *testing.T) {
	t.Parallel()
	const found = "2 GPUs found.\n+--------+----------------------------------------------------------------------+\n| GPU ID | Device Information |\n"
	for name, tt := range map[string]struct {
		in   string
		want nvidia.Discovery
		err  string
	}{
		"3":              {"\ndcgmi  version: 3.3.9\n" + found, nvidia.Discovery{Version: "3.3.9", Major: 3, GPUs: 2}, ""},
		"4, one GPU":     {"\ndcgmi  version: 4.7.0\n\n1 GPU found.\n", nvidia.Discovery{Version: "4.7.0", Major: 4, GPUs: 1}, ""},
		"no host engine": {"\ndcgmi  version: 3.3.9\nError: unable to establish a connection to the specified host: localhost\nError: Unable to connect to host engine. Host engine connection invalid/disconnected.\n", nvidia.Discovery{}, "Host engine connection invalid"},
		"no answer":      {"\ndcgmi  version: 3.3.9\n", nvidia.Discovery{}, "printed no error"},
		"no version":     {found, nvidia.Discovery{}, "no version"},
		// KempnerInstitute/kempnerpulse issue 15; DCGM 4.5 and later: GPUs can be detached.
		"4.5":           {"\ndcgmi  version: 4.5.1\n8 GPUs found (Active).\n+---+\n0 NvSwitches found.\n", nvidia.Discovery{Version: "4.5.1", Major: 4, GPUs: 8}, ""},
		"4.5, detached": {"\ndcgmi  version: 4.5.1\n7 GPUs found (Active).\n+---+\n1 GPU found (Detached).\n", nvidia.Discovery{Version: "4.5.1", Major: 4, GPUs: 7}, ""},
		"none active":   {"\ndcgmi  version: 4.5.1\n8 GPUs found (Detached).\n", nvidia.Discovery{}, "no active GPUs"},
		"another list":  {"\ndcgmi  version: 4.5.1\n0 GPUs found (Active).\n", nvidia.Discovery{Version: "4.5.1", Major: 4}, ""},
		"nothing":       {"", nvidia.Discovery{}, "no version"},
		"no text":       {"\xff\xfe", nvidia.Discovery{}, "UTF-8"},
	} {
		got, err := nvidia.ParseDiscovery([]byte(tt.in))
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %v, want %q", name, err, tt.err)
		}
		if err == nil && got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

func FuzzParseDiscovery(f *testing.F) {
	f.Add([]byte("\ndcgmi  version: 3.3.9\n2 GPUs found.\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, err := nvidia.ParseDiscovery(data); err == nil && d.Version == "" {
			t.Error("no version and no error")
		}
	})
}
