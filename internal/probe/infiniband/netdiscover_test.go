package infiniband

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The output of ibnetdiscover 44.0 of a leaf, a spine and two adapters (ibsim).
func TestParseNetDiscover(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/ibnetdiscover.txt")
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseNetDiscover(raw)
	if err != nil {
		t.Fatal(err)
	}
	const spine, leaf, gpu1, gpu2 = "S-a088c20300000020", "S-a088c20300000010", "H-a088c2030000100f", "H-a088c2030000101f"
	want := []NetNode{
		{Kind: "Switch", ID: spine, Name: "spine-0", Ports: 8, Links: []NetLink{{1, leaf, 5}, {2, leaf, 6}}},
		{Kind: "Switch", ID: leaf, Name: "leaf-0", Ports: 8, Links: []NetLink{{1, gpu1, 1}, {2, gpu2, 1}, {5, spine, 1}, {6, spine, 2}}},
		{Kind: "Ca", ID: gpu2, Name: "gpu-02 mlx5_0", Ports: 1, Links: []NetLink{{1, leaf, 2}}, PortGUIDs: []string{"0xa088c20300001020"}},
		{Kind: "Ca", ID: gpu1, Name: "gpu-01 mlx5_0", Ports: 1, Links: []NetLink{{1, leaf, 1}}, PortGUIDs: []string{"0xa088c20300001010"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Cut at any line, it is refused: a link has lost an end, or no link is left.
	lines := strings.SplitAfter(string(raw), "\n")
	for n := range lines[:len(lines)-2] {
		if _, err := ParseNetDiscover([]byte(strings.Join(lines[:n], ""))); err == nil {
			t.Errorf("%d lines of %d are read", n, len(lines))
		}
	}
}

// With -g, and always before 2008, nodes are grouped by chassis (example of ibnetdiscover(8)); two adapters of one
// cable have a blank before the GUID of the peer (out_ca_port in ibnetdiscover.c).
func TestParseGroupedNetDiscover(t *testing.T) {
	t.Parallel()
	const in = `#
# Topology file: generated on Tue Jun  5 14:15:10 2007
#
# Max of 3 hops discovered
# Initiated from node 0008f10403960558 port 0008f10403960559

Chassis 1 (guid 0x8f104004121ab)
Hostname: xg-1

# Spine Nodes
vendid=0x8f1
devid=0x5a05
sysimgguid=0x5442ba00003000		# Chassis 1 (xg-1) slot 3
switchguid=0x5442ba00003080(5442ba00003080)	# ISR9024 Spine 1 Chip 2
Switch  24 "S-005442ba00003080"         # "ISR9024 Voltaire" base port 0 lid 6 lmc 0
[22][ext 5]    "H-0008f10403961354"[1](8f10403961355)         # "host-1 HCA-1" lid 4 4xSDR

# Chassis CAs
Non-Chassis Nodes

vendid=0x2c9
devid=0x5a44
caguid=0x8f10403961354
Ca      2 "H-0008f10403961354"          # "host-1 HCA-1" (scp)
[1](8f10403961355)     "S-005442ba00003080"[22][ext 5]                # lid 4 lmc 1 "ISR9024 Voltaire" lid 6 4xSDR
[2](8f10403961356)     "H-0008f10403961358"[1] (8f10403961359) 		# lid 7 lmc 0 "host-2 HCA-1" lid 8 4xHDR

Ca      1 "H-0008f10403961358"          # "host-2 HCA-1"
[1](8f10403961359)     "H-0008f10403961354"[2] (8f10403961356) 		# lid 8 lmc 0 "host-1 HCA-1" lid 7 4xHDR
`
	got, err := ParseNetDiscover([]byte(in))
	want := []NetNode{
		{Kind: "Switch", ID: "S-005442ba00003080", Name: "ISR9024 Voltaire", Ports: 24, Links: []NetLink{{22, "H-0008f10403961354", 1}}},
		{Kind: "Ca", ID: "H-0008f10403961354", Name: "host-1 HCA-1", Ports: 2, Links: []NetLink{{1, "S-005442ba00003080", 22}, {2, "H-0008f10403961358", 1}}, PortGUIDs: []string{"0x8f10403961355", "0x8f10403961356"}},
		{Kind: "Ca", ID: "H-0008f10403961358", Name: "host-2 HCA-1", Ports: 1, Links: []NetLink{{1, "H-0008f10403961354", 2}}, PortGUIDs: []string{"0x8f10403961359"}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestBadNetDiscover(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                               "no node",
		"Switch 8 \"a\"\n[1] \"b\"[1]\n": "does not list it",
		"Switch 8 \"a\"\n":               "no link",
		"Switch 8 \"a\"\n[1] \"a\"[2]\n[2] \"a\"[1]\nSwitch 8 \"a\"\n":             "occurs twice",
		"Switch 8 \"a\"\n[1] \"a\"[2]\n[2] \"a\"[1]\n[1] \"a\"[2]\n":               "two links",
		"Switch 8 \"a\"\n[9] \"b\"[1]\n":                                           "ports 1 to 8",
		"Switch 800 \"a\"\n":                                                       "number of ports",
		"[1] \"b\"[1]\n":                                                           "without a node line",
		"src/query_smp.c:197; umad (DR path slid 0; dlid 0; 0,1) bad status 110\n": "not a line",
	} {
		if _, err := ParseNetDiscover([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseNetDiscover(f *testing.F) {
	raw, err := os.ReadFile("testdata/ibnetdiscover.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte("Hca 1 \"a b\"\n[1] \"c\"[2] # w=3\n\nSwitch 2 \"c\"\n[2] \"a b\"[1]\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		nodes, err := ParseNetDiscover(raw)
		if err == nil && len(nodes) == 0 {
			t.Error("no nodes, and no error")
		}
		for _, n := range nodes {
			for _, l := range n.Links {
				if l.Port < 1 || l.Port > n.Ports || l.PeerID == "" {
					t.Errorf("%+v of %+v", l, n)
				}
			}
		}
	})
}
