package infiniband_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

// pkeySample is what grep prints of the kernel's files ("0x%04x"), in the order of the
// directory, which is not that of the table.
const pkeySample = `/sys/class/infiniband/mlx5_0/ports/1/pkeys/1:0x8001
/sys/class/infiniband/mlx5_0/ports/1/pkeys/0:0xffff
/sys/class/infiniband/mlx5_1/ports/1/pkeys/0:0x7fff
`

func TestParsePKeys(t *testing.T) {
	t.Parallel()
	got, err := infiniband.ParsePKeys([]byte(pkeySample + "/sys/class/infiniband/mlx5_1/ports/1/pkeys/7:0x7fff\n/sys/class/infiniband/mlx5_2/ports/2/pkeys/0:0x0000\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []infiniband.PKeyTable{
		{Device: "mlx5_0", Port: 1, Keys: []string{"0x8001", "0xffff"}},
		{Device: "mlx5_1", Port: 1, Keys: []string{"0x7fff"}},
		{Device: "mlx5_2", Port: 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if dir := infiniband.PKeyDir("mlx5_0", 1); !strings.HasPrefix(pkeySample, dir+"/1:") {
		t.Errorf("the directory of the first table is %s", dir)
	}
}

func TestParsePKeysRefuses(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"empty":             "",
		"a key cut short":   pkeySample + "/sys/class/infiniband/mlx5_2/ports/1/pkeys/0:0xff\n",
		"another file":      pkeySample + "/sys/class/infiniband/mlx5_2/ports/1/gids/0:0xffff\n",
		"an error of grep":  pkeySample + "grep: /sys/class/infiniband/mlx5_2/ports/1/pkeys: No such file or directory\n",
		"a port's number":   "/sys/class/infiniband/mlx5_2/ports/99999999999999999999/pkeys/0:0xffff\n",
		"keys without name": "0xffff\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := infiniband.ParsePKeys([]byte(in)); err == nil {
				t.Errorf("read %+v", got)
			}
		})
	}
}

func FuzzParsePKeys(f *testing.F) {
	f.Add([]byte(pkeySample))
	f.Fuzz(func(t *testing.T, data []byte) {
		tables, err := infiniband.ParsePKeys(data)
		if err == nil && len(tables) == 0 {
			t.Error("no table, and no error")
		}
	})
}
