package training

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/world"
)

func TestWriteCheckpoint(t *testing.T) {
	t.Parallel()
	hw, err := world.LoadHardware("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	healthy := Checkpoint{Storage: hw.Storage, Index: 2, Directory: "/mnt/x", MiB: 16384, FreeGiB: hw.Storage.FreeGiB, Seed: 3}
	for name, tt := range map[string]struct {
		change func(*Checkpoint)
		want   string
	}{
		"healthy":     {func(*Checkpoint) {}, `{"index": 2, "fileSystem": "lustre", "source": "10.20.0.11@o2ib:10.20.0.12@o2ib:/scratch", "freeBytes": 442381631488000, "bytes": 17179869184, "writeSeconds": 5.`},
		"full":        {func(c *Checkpoint) { c.FreeGiB = 16.5 }, `"freeBytes": 17716740096, "bytes": 0, "error": "[Errno 28] No space left on device"}`},
		"read-only":   {func(c *Checkpoint) { c.ReadOnly = true }, `"bytes": 0, "error": "[Errno 30] Read-only file system: '/mnt/x/.firstlight-`},
		"not mounted": {func(c *Checkpoint) { c.Unmounted, c.FreeGiB = true, 0 }, `"fileSystem": "ext4", "source": "/dev/md0", "freeBytes": 1717986918400, "bytes": 17179869184`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := healthy
			tt.change(&c)
			var b strings.Builder
			if err := WriteCheckpoint(&b, c); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(b.String(), "checkpoint test: {") || !strings.HasSuffix(b.String(), "}\n") || !strings.Contains(b.String(), tt.want) {
				t.Errorf("%q does not contain %q", b.String(), tt.want)
			}
		})
	}
}
