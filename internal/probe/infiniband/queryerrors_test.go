package infiniband_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

const querySample = `Errors for 0x200002 "hxa-su1-leaf-r1"
   GUID 0x200002 port ALL: [SymbolErrorCounter == 250] [LinkDownedCounter == 3]
   GUID 0x200002 port 33: [SymbolErrorCounter == 250] [LinkDownedCounter == 3]
Errors for "gpu-02 mlx5_0"
   GUID 0x100003 port 1: [LinkDownedCounter == 3] [PortXmitData == 3672 (14.344KB)]

## Summary: 16 nodes checked, 2 bad nodes found
##          226 ports checked, 2 ports have errors beyond threshold
## Thresholds: 
## Suppressed:
`

func TestParseQueryErrors(t *testing.T) {
	t.Parallel()
	got, err := infiniband.ParseQueryErrors([]byte(querySample))
	if err != nil {
		t.Fatal(err)
	}
	want := infiniband.ErrorReport{NodesChecked: 16, PortsChecked: 226, BadPorts: 2, Ports: []infiniband.PortErrors{
		{Node: "hxa-su1-leaf-r1", GUID: "0x200002", Port: 33, Counters: map[string]uint64{"SymbolErrorCounter": 250, "LinkDownedCounter": 3}},
		{Node: "gpu-02 mlx5_0", GUID: "0x100003", Port: 1, Counters: map[string]uint64{"LinkDownedCounter": 3, "PortXmitData": 3672}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestQueriesThatFailedAreCounted: a port that did not answer is not listed,
// which reads like a port without errors.
func TestQueriesThatFailedAreCounted(t *testing.T) {
	t.Parallel()
	in := "ibwarn: [4711] mad_rpc: _do_madrpc failed; dport (Lid 12)\n" + strings.Replace(querySample, "## Suppressed:", "##          7 PMA query failures\n## Suppressed:", 1)
	got, err := infiniband.ParseQueryErrors([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if got.QueryFailures != 7 || len(got.Warnings) != 1 || len(got.Ports) != 2 {
		t.Errorf("%+v", got)
	}
	for name, in := range map[string]string{
		"another line of the summary": strings.Replace(querySample, "## Suppressed:", "##          2 nodes could not be read", 1),
		"a counter that is cut":       strings.Replace(querySample, "[LinkDownedCounter == 3]\nErrors", "[LinkDownedCo\nErrors", 1),
	} {
		if got, err := infiniband.ParseQueryErrors([]byte(in)); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A port that is left out of the list reads like a port without errors; the tool counts those that it lists
// (print_results in ibqueryerrors.c).
func TestPortsThatAreNotListed(t *testing.T) {
	t.Parallel()
	one := strings.Replace(querySample, "   GUID 0x200002 port 33: [SymbolErrorCounter == 250] [LinkDownedCounter == 3]\n", "", 1)
	got, err := infiniband.ParseQueryErrors([]byte(one))
	if err != nil || got.Unlisted() != 1 {
		t.Errorf("%d ports are not listed, %v; want 1", got.Unlisted(), err)
	}
	if got, err := infiniband.ParseQueryErrors([]byte(querySample)); err != nil || got.Unlisted() != 0 {
		t.Errorf("%d ports are not listed, %v; want none", got.Unlisted(), err)
	}
	// The end alone, as tail prints it.
	summary := querySample[strings.Index(querySample, "##"):]
	if got, err := infiniband.ParseQueryErrors([]byte(summary)); err == nil {
		t.Errorf("the summary alone: %+v", got)
	}
}

// TestParseQueryErrorsRealOutputs reads what the real tool printed over a simulated fabric.
func TestParseQueryErrorsRealOutputs(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/real/ibqueryerrors/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := infiniband.ParseQueryErrors(data); err != nil || got.Unlisted() != 0 {
			t.Errorf("%s: %d ports are not listed, %v", filepath.Base(f), got.Unlisted(), err)
		}
	}
}

func TestParseQueryErrorsRefuses(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"empty":           "",
		"truncated":       querySample[:200],
		"nothing checked": "## Summary: 0 nodes checked, 0 bad nodes found\n##          0 ports checked, 0 ports have errors beyond threshold\n",
		"another tool":    "sminfo: iberror: query failed\n",
		"port first":      "   GUID 0x1 port 1: [A == 1]\n",
		"too large":       "Errors for \"a\"\n   GUID 0x1 port 1: [A == 99999999999999999999999]\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := infiniband.ParseQueryErrors([]byte(in)); err == nil {
				t.Errorf("read %+v", got)
			}
		})
	}
}

func FuzzParseQueryErrors(f *testing.F) {
	f.Add([]byte(querySample))
	f.Add([]byte("## Summary: 8 nodes checked, 0 bad nodes found\n##          113 ports checked, 0 ports have errors beyond threshold\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := infiniband.ParseQueryErrors(data)
		if err == nil && r.PortsChecked == 0 {
			t.Error("nothing checked, and no error")
		}
	})
}

// The lines are those of infiniband-diags/ibqueryerrors.c in rdma-core.
func TestUnansweredQueries(t *testing.T) {
	t.Parallel()
	var r infiniband.ErrorReport
	r.CountUnanswered([]byte(`ibwarn: [4711] _do_madrpc: recv failed: Connection timed out
ibwarn: [4711] mad_rpc: _do_madrpc failed; dport (Lid 25)
ibwarn: [4711] query_cap_mask: classportinfo query failed on storage-01 HCA-1, Lid 25 port 1
ibwarn: [4711] print_errors: IB_GSI_PORT_COUNTERS query failed on storage-01 HCA-1, Lid 25 port 1
ibwarn: [4711] print_errors: IB_GSI_PORT_COUNTERS_EXT query failed on Quantum Mellanox Technologies, rack 3, Lid 7 port 255
`))
	if diff := cmp.Diff(map[string]int{"storage-01 HCA-1": 2, "Quantum Mellanox Technologies, rack 3": 1}, r.Unanswered); diff != "" {
		t.Error(diff)
	}
}

// Warnings of queries that the summary counts are omitted; any other one may be of a node that is missing.
func TestWarningsOfOtherQueries(t *testing.T) {
	t.Parallel()
	const (
		device = "ibwarn: [4711] _do_madrpc: recv failed: Connection timed out\n"
		call   = "ibwarn: [4711] mad_rpc: _do_madrpc failed; dport (Lid 25)\n"
		query  = "ibwarn: [4711] print_errors: IB_GSI_PORT_COUNTERS query failed on storage-01 HCA-1, Lid 25 port 1\n"
		other  = "ibwarn: [4711] mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0,1,5)\n"
	)
	for in, want := range map[string]string{
		device + call + query:                              "",
		call + device + call + query + query:               "",
		device + call:                                      device + call,
		device + other + device + call + query:             device + other,
		device + device + call + query:                     device,
		call + query + device:                              device,
		query + "src/query_smp.c:197; umad bad status 110": "src/query_smp.c:197; umad bad status 110",
	} {
		if got := string(infiniband.WithoutUnanswered([]byte(in))); got != want {
			t.Errorf("of %q: %q, want %q", in, got, want)
		}
	}
}
