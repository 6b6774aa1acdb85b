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
		"nothing":        {"", nvidia.Discovery{}, "no version"},
		"no text":        {"\xff\xfe", nvidia.Discovery{}, "UTF-8"},
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
