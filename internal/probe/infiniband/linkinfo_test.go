package infiniband_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

func TestParseLinkInfo(t *testing.T) {
	t.Parallel()
	const in = `0x0000000000200002 "               hxa-su1-leaf-r1"      4    1[  ] ==( 4X           2.5 Gbps Active/  LinkUp)==>  0x0000000000100002      5    1[  ] "hxa-gpu01 mlx5_0" (Could be 12X Could be 10.0 Gbps)
0x0000000000200005 "               hxa-su2-leaf-r2"      9   34[  ] ==(                Down/ Polling)==>             [  ] "" ( )
0xa088c20300d700d0 "                 gpu-01 mlx5_0"     13    1[  ] ==( 4X        106.25 Gbps Active/  LinkUp)==>  0xa088c20300d70050      5    1[  ] "leaf-0" ( )
`
	got, err := infiniband.ParseLinkInfo([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	want := []infiniband.LinkPort{
		{Node: "hxa-su1-leaf-r1", GUID: "0x0000000000200002", LID: 4, Port: 1, State: "Active", PhysState: "LinkUp", Width: 4, LaneGbps: 2.5, Peer: "hxa-gpu01 mlx5_0", PeerGUID: "0x0000000000100002", PeerPort: 1, CouldBe: "Could be 12X Could be 10.0 Gbps"},
		{Node: "hxa-su2-leaf-r2", GUID: "0x0000000000200005", LID: 9, Port: 34, State: "Down", PhysState: "Polling"},
		{Node: "gpu-01 mlx5_0", GUID: "0xa088c20300d700d0", LID: 13, Port: 1, State: "Active", PhysState: "LinkUp", Width: 4, LaneGbps: 106.25, Peer: "leaf-0", PeerGUID: "0xa088c20300d70050", PeerPort: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestParseOtherForms reads the other forms in the tool's source.
func TestParseOtherForms(t *testing.T) {
	t.Parallel()
	const in = `0xe41d2d0300aabb00 "                        leaf-0"      4    1[13] ==( 4X   10.0 Gbps (FDR10) Active/  LinkUp)==>  0xe41d2d0300aabb10      5    2[ 7] "leaf-1" ( )
0xe41d2d0300aabb00 "                        leaf-0"      4    2[  ] ==( 4X         106.25 Gbps Active/  LinkUp)==>      "Port not available"
0xe41d2d0300aabb00 "                        leaf-0"      4    3[  ] ==(                Down/No state change)==>             [  ] "" ( )
0xe41d2d0300aabb00 "                        leaf-0"      4    4[  ] ==(                Down/PortConfigurationTraining)==>             [  ] "" ( )
`
	got, err := infiniband.ParseLinkInfo([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	leaf := infiniband.LinkPort{Node: "leaf-0", GUID: "0xe41d2d0300aabb00", LID: 4, State: "Down"}
	want := []infiniband.LinkPort{leaf, leaf, leaf, leaf}
	for i := range want {
		want[i].Port = i + 1
	}
	want[0].State, want[0].PhysState, want[0].Width, want[0].LaneGbps = "Active", "LinkUp", 4, 10
	want[0].Peer, want[0].PeerGUID, want[0].PeerPort = "leaf-1", "0xe41d2d0300aabb10", 2
	want[1].State, want[1].PhysState, want[1].Width, want[1].LaneGbps = "Active", "LinkUp", 4, 106.25
	want[2].PhysState, want[3].PhysState = "No state change", "PortConfigurationTraining"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestParseRealOutput reads what the real tool printed over a simulated fabric.
func TestParseRealOutput(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../testdata/real/iblinkinfo/line-mode.txt")
	if err != nil {
		t.Fatal(err)
	}
	ports, err := infiniband.ParseLinkInfo(data)
	if err != nil {
		t.Fatal(err)
	}
	up := 0
	for _, p := range ports {
		if p.Up() {
			up++
			if p.Peer == "" || p.Width != 4 {
				t.Errorf("%+v", p)
			}
		}
	}
	if up == 0 || up%2 != 0 {
		t.Errorf("%d ends are up, want an even number", up)
	}
}

func TestParseLinkInfoRefuses(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"empty":          "",
		"an error":       "ibwarn: [1] mad_rpc: _do_madrpc failed\n",
		"truncated":      `0x0000000000200002 "               leaf-0"      4    1[  ] ==( 4X           2.5 Gbps Act`,
		"other mode":     "CA: gpu-02 mlx5_1:\n      0x0000000000100009      8    1[  ] ==( 4X 2.5 Gbps Active/  LinkUp)==>  3 2[  ] \"leaf-1\" ( )\n",
		"wrong encoding": "\xff\xfe0\x00x\x00",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := infiniband.ParseLinkInfo([]byte(in)); err == nil {
				t.Errorf("read %+v", got)
			}
		})
	}
}

func FuzzParseLinkInfo(f *testing.F) {
	f.Add([]byte(`0x0000000000200005 "               hxa-su2-leaf-r2"      9   34[  ] ==(                Down/ Polling)==>             [  ] "" ( )`))
	f.Add([]byte(`0xa088c20300d700d0 "                 gpu-01 mlx5_0"     13    1[  ] ==( 4X        106.25 Gbps Active/  LinkUp)==>  0xa088c20300d70050      5    1[  ] "leaf-0" ( )`))
	f.Fuzz(func(t *testing.T, data []byte) {
		ports, err := infiniband.ParseLinkInfo(data)
		if err == nil && len(ports) == 0 {
			t.Error("nothing read, and no error")
		}
	})
}
