package nccl_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nccl"
)

// printed is what the 8 processes printed in testdata/openmpi-*: lines of NCCL, each with one write, three times.
func printed() string {
	var b strings.Builder
	for rank := range 8 {
		line := func(format string, args ...any) {
			fmt.Fprintf(&b, "gpu-%02d:%d:%d [%d] NCCL INFO %s\n", rank/4+1, 101+rank, 140+rank, rank%4, fmt.Sprintf(format, args...))
		}
		for range 3 {
			line("NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB [3]mlx5_3:1/IB [RO]; OOB eth0:10.0.0.%d<0>", rank/4+1)
			line("Using network IB")
			line("NVLS multicast support is available on dev %d (NVLS_NCHANNELS 16)", rank%4)
			next, previous := (rank+1)%8, (rank+7)%8
			for c := range 48 {
				if rank/4 == next/4 {
					line("Channel %02d/0 : %d[%d] -> %d[%d] via P2P/CUMEM/read", c, rank, rank%4, next, next%4)
				} else {
					line("Channel %02d/0 : %d[%d] -> %d[%d] [send] via NET/IB/%d/GDRDMA", c, rank, rank%4, next, next%4, c%4)
				}
				if rank/4 != previous/4 {
					line("Channel %02d/0 : %d[%d] -> %d[%d] [receive] via NET/IB/%d/GDRDMA", c, previous, previous%4, rank, rank%4, c%4)
				}
			}
			line("Connected all rings, use ring PXN 0 GDR 1")
			line("ncclCommInitRankConfig comm 0x%x rank %d nranks 8 cudaDev %d nvmlDev %d busId %x000 commId 0x7 - Init COMPLETE", 0x5550000+rank, rank, rank%4, rank%4, rank+1)
		}
	}
	return b.String()
}

func parsed(t *testing.T, r io.Reader) nccl.Log {
	t.Helper()
	log, err := nccl.ParseLog(r)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// The files are the output of mpirun of Open MPI 4.1.4 and 5.0.7, of Debian, some of whose lines it cut. With the labels of 4.1.4
// (--tag-output) the log is what the processes printed, and none of the others has a fact that they did not print.
func TestOpenMPI(t *testing.T) {
	t.Parallel()
	want := parsed(t, strings.NewReader(printed()))
	for name, whole := range map[string]bool{"4.1.4-labels": true, "4.1.4": false, "5.0.7": false} {
		file, err := os.Open("testdata/openmpi-" + name + ".txt.gz")
		if err != nil {
			t.Fatal(err)
		}
		text, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		got := parsed(t, text)
		_ = file.Close()
		if diff := cmp.Diff(want, got); (diff == "") != whole {
			t.Errorf("%s, want the whole log %t: %s", name, whole, diff)
		}
		if whole {
			continue
		}
		if got.Joined > 0 || got.Cut == 0 {
			t.Errorf("%s: %d joined, %d cut", name, got.Joined, got.Cut)
		}
		for _, c := range got.Channels {
			if !slices.ContainsFunc(want.Channels, func(w nccl.Channel) bool { c.Count, c.Host = w.Count, w.Host; return w == c }) {
				t.Errorf("%s: %+v", name, c)
			}
		}
		for _, h := range got.Hosts {
			i := slices.IndexFunc(want.Hosts, func(w nccl.Host) bool { return w.Name == h.Name })
			if i >= 0 && !cmp.Equal(want.Hosts[i], h) {
				t.Errorf("%s: %+v", name, h)
			}
		}
		for _, r := range got.Ranks {
			if (r.NVLS != nil && !*r.NVLS) || (r.RingGDR != nil && !*r.RingGDR) {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}
