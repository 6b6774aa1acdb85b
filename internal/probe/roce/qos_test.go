package roce_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/roce"
)

// Outputs of mlnx_qos -i: of MLNX_OFED 4.2 (Mellanox community, DOC-2792: PFC on several priorities),
// and rows of a newer one whose port trusts VLAN tags.
const (
	mlnxOFED42 = `DCBX mode: OS controlled
Priority trust state: dscp
dscp2prio mapping:
	prio:0 dscp:07,06,05,04,03,02,01,00,
	prio:3 dscp:31,30,29,28,27,26,25,24,
Cable len: 10
PFC configuration:
	priority    0   1   2   3   4   5   6   7
	enabled     1   0   1   0   0   0   1   1   
tc: 0 ratelimit: unlimited, tsa: ets, bw: 10%
	 priority:  1
`
	mlnxPCP = `****** WARNING: lldpad service is running and may overwrite your settings ******

DCBX mode: OS controlled
Priority trust state: pcp
default priority:
Receive buffer size (bytes): 130944,130944,0,0,0,0,0,0,total_size=262016
Cable len: 7
PFC configuration:
	priority    0   1   2   3   4   5   6   7
	enabled     0   0   0   0   0   1   0   0   
	buffer      0   0   0   0   0   1   0   0   
`
	// The documents of dcb -j of iproute2 (dcb_pfc.c, dcb_app.c).
	dcbPFC = `{"pfc_cap":8,"macsec_bypass":false,"delay":0,"prio_pfc":[false,false,false,true,false,false,false,false]}`
	dcbApp = `{"dscp_prio":[[24,3],[26,3],[48,6]]}`
)

func TestParseQoS(t *testing.T) {
	t.Parallel()
	got, err := roce.ParseQoS([]byte("=mlx5_0=\n" + mlnxOFED42 + "=mlx5_1=\n" + mlnxPCP + "=mlx5_2=\n" + dcbPFC + "\n" + dcbApp + "\n=mlx5_3=\n" + dcbPFC + "\n{}\n"))
	if err != nil {
		t.Fatal(err)
	}
	eights := map[int]int{}
	for dscp := range 8 {
		eights[dscp], eights[24+dscp] = 0, 3
	}
	pfc := func(priorities ...int) (out [8]bool) {
		for _, p := range priorities {
			out[p] = true
		}
		return out
	}
	want := map[string]roce.QoS{
		"mlx5_0": {PFC: pfc(0, 2, 6, 7), Trust: roce.TrustDSCP, DSCP: eights},
		"mlx5_1": {PFC: pfc(5), Trust: roce.TrustPCP},
		"mlx5_2": {PFC: pfc(3), Trust: roce.TrustDSCP, DSCP: map[int]int{24: 3, 26: 3, 48: 6}},
		"mlx5_3": {PFC: pfc(3), Trust: roce.TrustPCP},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if on := got["mlx5_0"].Enabled(); !slices.Equal(on, []int{0, 2, 6, 7}) {
		t.Errorf("enabled: %v", on)
	}
}

func TestParseQoSRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, says string }{
		"nothing":                    {"", "no section"},
		"no output of a port":        {"=a=\n=b=\n" + mlnxPCP, "a: mlnx_qos: no table of PFC"},
		"an error":                   {"=a=\nNo such device\n", "no table of PFC"},
		"no trust state":             {"=a=\n" + strings.ReplaceAll(mlnxPCP, "Priority trust state: pcp\n", ""), "no priority trust state"},
		"a row cut short":            {"=a=\n" + strings.ReplaceAll(mlnxPCP, "1   0   0   \n\tbuffer", "\n\tbuffer"), "expected the state of 8 priorities"},
		"no head of the table":       {"=a=\n" + strings.ReplaceAll(mlnxPCP, "\tpriority ", "\tprio "), "below their numbers"},
		"a state of PFC":             {"=a=\n" + strings.ReplaceAll(mlnxPCP, "1   0   0   \n\tbuffer", "x   0   0   \n\tbuffer"), "expected 0 or 1"},
		"a DSCP twice":               {"=a=\n" + strings.ReplaceAll(mlnxOFED42, "\tprio:3 dscp:31,", "\tprio:3 dscp:07,"), "DSCP 7 has two priorities"},
		"a DSCP of 64":               {"=a=\n" + strings.ReplaceAll(mlnxOFED42, "dscp:31,", "dscp:64,"), "invalid DSCP"},
		"dcb without its app table":  {"=a=\n" + dcbPFC, "and that of app show"},
		"dcb of seven priorities":    {"=a=\n" + strings.Replace(dcbPFC, "[false,", "[", 1) + dcbApp, "8 priorities"},
		"dcb, a DSCP twice":          {"=a=\n" + dcbPFC + `{"dscp_prio":[[26,3],[26,4]]}`, "DSCP 26 has two priorities"},
		"dcb, a priority of 8":       {"=a=\n" + dcbPFC + `{"dscp_prio":[[26,8]]}`, "invalid pair"},
		"dcb cut short":              {"=a=\n" + dcbPFC + `{"dscp_prio":[[26`, "dcb -j"},
		"dcb, a table of texts":      {"=a=\n" + dcbPFC + `{"dscp_prio":["AF31:3"]}`, "dcb -j"},
		"an error before the output": {"hello\n=a=\n" + mlnxPCP, "expected a heading"},
	} {
		if got, err := roce.ParseQoS([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %+v, %v; want %q", name, got, err, tt.says)
		}
	}
}

func FuzzParseQoS(f *testing.F) {
	f.Add([]byte("=mlx5_0=\n" + mlnxOFED42))
	f.Add([]byte("=mlx5_0=\n" + dcbPFC + dcbApp))
	f.Fuzz(func(t *testing.T, data []byte) {
		ports, err := roce.ParseQoS(data)
		if err == nil && len(ports) == 0 {
			t.Error("no port, and no error")
		}
		for name, q := range ports {
			if q.Trust == "" {
				t.Errorf("%s has no trust state, and no error", name)
			}
		}
	})
}
