package infiniband_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

const diagnetSample = `---------------------------------------------
Speed / Width checks
-I- Link Speed Check (Compare to supported link speed)
-E- Link: S0002c90300688830/N0002c90300688830/P20<-->S0002c90300165e63/N0002c90300165e60/P1 - Unexpected actual link speed 2.5
-E- Sfc6a1c030047ee80/Nfc6a1c030047ee80/P1/27/2 - Cable High Temperature detected
-E- Links Speed Check finished with errors
---------------------------------------------
Fabric Summary
Total Nodes : 15
IB Switches : 3
IB Channel Adapters : 9
IB Aggregation Nodes : 3
IB Routers : 0
Adaptive Routing is enabled on 3 switches
---------------------------------------------
Summary
-I- Stage                               Warnings   Errors     Comment
-I- Discovery                           3          0
-I- Lids Check                          0          0
-I- Speed / Width checks                0          15
-I- Virtualization                      0          0          skipped by the user
-I- Create IBNetDiscover File           0          0
`

func TestParseDiagnet(t *testing.T) {
	t.Parallel()
	got, err := infiniband.ParseDiagnet([]byte(diagnetSample))
	if err != nil {
		t.Fatal(err)
	}
	n, sw, ca := 15, 3, 9
	want := infiniband.DiagnetReport{
		Stages: []infiniband.DiagnetStage{
			{Name: "Discovery", Warnings: 3}, {Name: "Lids Check"}, {Name: "Speed / Width checks", Errors: 15},
			{Name: "Virtualization", Skipped: true}, {Name: "Create IBNetDiscover File"},
		},
		TotalNodes: &n, Switches: &sw, CAs: &ca,
		Errors: []infiniband.DiagnetError{
			{
				Section: "Speed / Width checks",
				Text:    "Link: S0002c90300688830/N0002c90300688830/P20<-->S0002c90300165e63/N0002c90300165e60/P1 - Unexpected actual link speed 2.5",
				Ports:   []infiniband.DiagnetPort{{NodeGUID: "0x0002c90300688830", Port: 20, Label: "P20"}, {NodeGUID: "0x0002c90300165e60", Port: 1, Label: "P1"}},
			},
			{
				Section: "Speed / Width checks", Text: "Sfc6a1c030047ee80/Nfc6a1c030047ee80/P1/27/2 - Cable High Temperature detected",
				Ports: []infiniband.DiagnetPort{{NodeGUID: "0xfc6a1c030047ee80", Label: "P1/27/2"}},
			},
			{Section: "Speed / Width checks", Text: "Links Speed Check finished with errors"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s, ok := got.Stage("Speed / Width checks"); !ok || s.Errors != 15 {
		t.Errorf("%+v %v", s, ok)
	}
	if _, ok := got.Stage("Links Check"); ok {
		t.Error("a missing stage was found")
	}
}

// Names of ports in outputs of real fabrics: of NCAR (comments of a public parser of their logs), of the corpus
// (yacenturion), and of a fabric of 480 NDR switches (public notes on ibdiagnet of 2025). Only unmanaged switches and hosts
// without a description have the form S/N/P; the others were not read.
func TestNamesOfPorts(t *testing.T) {
	t.Parallel()
	guid := func(id string, port int) infiniband.DiagnetPort {
		return infiniband.DiagnetPort{NodeGUID: id, Port: port, Label: "P" + strconv.Itoa(port)}
	}
	for line, want := range map[string][]infiniband.DiagnetPort{
		`r9i1n24/U1/P1 - "port_rcv_remote_physical_errors" increased during the run (difference value=3)`: {{Node: "r9i1n24/U1", Port: 1, Label: "P1"}},
		`Link: S7cfe900300a51030/N7cfe900300a51030/P28<-->ime2/U1/P1 - Unexpected actual link speed 14`:   {guid("0x7cfe900300a51030", 28), {Node: "ime2/U1", Port: 1, Label: "P1"}},
		`Link: smg-ib-sw041/U1/P24<-->S900a840300308e40/N900a840300308e40/P49 - Unexpected width`:         {{Node: "smg-ib-sw041/U1", Port: 24, Label: "P24"}, guid("0x900a840300308e40", 49)},
		`Sfc6a1c0300b00580/Nfc6a1c0300b00580/P1/5/1 - "symbol_error_counter" increased during the run`:    {{NodeGUID: "0xfc6a1c0300b00580", Label: "P1/5/1"}},
		`10-43-2-214/mlx5_0/P1 - "symbol_error_counter" increased during the run`:                         {{Node: "10-43-2-214/mlx5_0", Port: 1, Label: "P1"}},
		`Configured with ZERO lid: S7cfe900300a51030/N7cfe900300a51030/P1`:                                {guid("0x7cfe900300a51030", 1)},
		`10-43-2-214/mlx5_0 - Node with Devid:4129(0x1021),PSID:MT_0000000838 has FW version 28.38.1002`:  nil,
		`Links Speed Check finished with errors`:                                                          nil,
	} {
		got, err := infiniband.ParseDiagnet([]byte("-E- " + line + "\n-I- Stage Warnings   Errors\n-I- Discovery       0 0\n"))
		if err != nil || len(got.Errors) != 1 {
			t.Fatalf("%v %+v", err, got)
		}
		if diff := cmp.Diff(want, got.Errors[0].Ports); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
}

// Versions before 2.7 print names in 26 columns, as in Mellanox' guide on adaptive routing with UFM (public repositories,
// found by text): "Create IBNetDiscover File", with 25 characters, has one space after it. The whole output was refused.
func TestParseDiagnetNarrowTable(t *testing.T) {
	t.Parallel()
	const narrow = `Fabric Summary

Total Nodes             : 15
IB Switches             : 3
IB Channel Adapters     : 9
IB Aggregation Nodes    : 3

---------------------------------------------
Summary
-I- Stage                     Warnings   Errors     Comment
-I- Discovery                 3          0
-I- Temperature Sensing       0          0          2 nodes have 4 sensors
-I- Create IBNetDiscover File 0          7

-I- You can find detailed errors/warnings in: /var/tmp/ibdiagnet2/ibdiagnet2.log
`
	got, err := infiniband.ParseDiagnet([]byte(narrow))
	want := []infiniband.DiagnetStage{{Name: "Discovery", Warnings: 3}, {Name: "Temperature Sensing"}, {Name: "Create IBNetDiscover File", Errors: 7}}
	if diff := cmp.Diff(want, got.Stages); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if got.TotalNodes == nil || *got.TotalNodes != 15 {
		t.Errorf("total nodes %v", got.TotalNodes)
	}
	for _, text := range []string{"-I- Create IBNetDiscover File 0", "-I- Create IBNetDiscover File failed"} {
		if got, err := infiniband.ParseDiagnet([]byte(strings.Replace(narrow, "-I- Create IBNetDiscover File 0          7", text, 1))); err == nil {
			t.Errorf("%s: read %+v", text, got)
		}
	}
}

func TestParseDiagnetRefuses(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"empty":      "",
		"no summary": "-I- Discovery finished successfully\n",
		"truncated":  diagnetSample[:300],
		"no counts":  diagnetSample + "-W- Port Counters                       N/A        N/A\n",
		"too large":  "-I- Stage Warnings   Errors\n-I- Discovery       99999999999999999999 0\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := infiniband.ParseDiagnet([]byte(in)); err == nil {
				t.Errorf("read %+v", got)
			}
		})
	}
}

func FuzzParseDiagnet(f *testing.F) {
	f.Add([]byte(diagnetSample))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := infiniband.ParseDiagnet(data)
		if err == nil && len(r.Stages) == 0 {
			t.Error("no stages, and no error")
		}
	})
}
