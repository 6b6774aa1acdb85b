package fabric_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// withOthers adds a UFM host, and a storage server with a port of a lower rate.
func withOthers(s *subnet) {
	s.guids["ufm-01 mlx5_0"], s.guids["storage-01 HCA-1"] = 0xb8599f0300110010, 0xb8599f0300110020
	s.link("ufm-01 mlx5_0", 1, "leaf-0", 60)
	s.link("storage-01 HCA-1", 1, "leaf-1", 60)
	s.of("storage-01 HCA-1").lane = 53.125
	s.nodes = [2]int{9, 9}
	s.summary = strings.NewReplacer("Nodes             : 7", "Nodes             : 9", "Adapters     : 4", "Adapters     : 6").Replace(s.summary)
}

// A UFM host or a storage server on the subnet failed the gate by the number of nodes, and a site
// could not allow it. Now it is named, and a site lists the nodes of others, which are not judged.
func TestNodesOfOthers(t *testing.T) {
	t.Parallel()
	all := []string{"ufm-* *", "0xb8599f0300110020"}
	for name, tt := range map[string]struct {
		others  []string
		vary    func(*subnet)
		verdict check.Verdict
		suspect string
		message string
	}{
		"allowed":                {all, func(*subnet) {}, check.Passed, "", ""},
		"allowed by one pattern": {[]string{"[us]*-01 *"}, func(*subnet) {}, check.Passed, "", ""},
		"their errors grow": {all, func(s *subnet) {
			s.of("storage-01 HCA-1").after = [2]map[string]int{{"SymbolErrorCounter": 900}, {"LinkDownedCounter": 9}}
		}, check.Passed, "", ""},
		"ibdiagnet names their link": {all, func(s *subnet) {
			s.errors["Speed / Width checks"] = []string{"Link: " + s.diagPort("leaf-1", 60) + "<-->" + s.diagPort("storage-01 HCA-1", 1) + " - Unexpected actual link speed 53.125", "Link Speed Check finished with errors"}
		}, check.Passed, "storage-01/HCA-1", "ibdiagnet: "},
		"ibdiagnet names their port": {all, func(s *subnet) {
			s.errors["Speed / Width checks"] = []string{s.diagPort("storage-01 HCA-1", 1) + " - something is wrong"}
		}, check.Passed, "storage-01/HCA-1", "ibdiagnet: "},
		"ibdiagnet names the switch port of their link": {all, func(s *subnet) {
			s.errors["Speed / Width checks"] = []string{s.diagPort("leaf-1", 60) + " - something is wrong"}
		}, check.Passed, "storage-01/HCA-1", "ibdiagnet: "},
		"ibdiagnet names their adapter by its description": {all, func(s *subnet) {
			s.errors["Virtualization"] = []string{"storage-01/HCA-1/P1 - something is wrong"}
		}, check.Passed, "storage-01/HCA-1", "ibdiagnet: "},
		"ibdiagnet names their host": {all, func(s *subnet) {
			s.errors["Virtualization"] = []string{"Link: storage-01/U1/P1<-->" + s.diagPort("leaf-1", 60) + " - Unexpected actual link speed 53.125"}
		}, check.Passed, "storage-01/U1", "ibdiagnet: "},
		"ibdiagnet names the switch port of their link by its label": {all, func(s *subnet) {
			s.errors["Port Counters"] = []string{s.diagPort("leaf-1", 1) + "/30/2 - \"symbol_error_counter\" increased during the run"}
		}, check.Passed, "storage-01/HCA-1", "ibdiagnet: "},
		"ibdiagnet names the label of an own link": {all, func(s *subnet) {
			s.errors["Port Counters"] = []string{s.diagPort("leaf-1", 1) + "/1/2 - \"symbol_error_counter\" increased during the run"}
		}, check.Failed, "gpu-02/mlx5_1", "ibdiagnet: "},
		"ibdiagnet names the label of a switch with more ports": {all, func(s *subnet) {
			s.link("leaf-1", 70, "spine-0", 70)
			s.errors["Port Counters"] = []string{s.diagPort("leaf-1", 1) + "/30/2 - \"symbol_error_counter\" increased during the run"}
		}, check.Failed, "leaf-1/P1/30/2", "ibdiagnet: "},
		"ibdiagnet names an own adapter by its description": {all, func(s *subnet) {
			s.errors["Virtualization"] = []string{"gpu-02/mlx5_1/P1 - something is wrong"}
		}, check.Failed, "gpu-02/mlx5_1", "ibdiagnet: "},
		"ibdiagnet names an own host": {all, func(s *subnet) {
			s.errors["Virtualization"] = []string{"gpu-02/U1/P1 - something is wrong"}
		}, check.Failed, "gpu-02/U1", "ibdiagnet: "},
		"a host has adapters of others and of the site": {append(all, "* mlx5_8"), func(s *subnet) {
			s.guids["gpu-02 mlx5_8"] = 0xb0
			s.link("gpu-02 mlx5_8", 1, "leaf-0", 40)
			s.summary = strings.Replace(s.summary, "Adapters     : 6", "Adapters     : 7", 1)
			s.errors["Virtualization"] = []string{"gpu-02/U1/P1 - something is wrong"}
		}, check.Failed, "gpu-02/U1", "ibdiagnet: "},
		"ibdiagnet names one of them that left": {all, func(s *subnet) {
			s.errors["Virtualization"] = []string{"ufm-02/mlx5_0/P1 - something is wrong"}
		}, check.Passed, "ufm-02/mlx5_0", "ibdiagnet: "},
		"ibdiagnet names a host that is not on the subnet": {all, func(s *subnet) {
			s.errors["Virtualization"] = []string{"storage-02/mlx5_0/P1 - something is wrong"}
		}, check.Failed, "fabric", "something is wrong"},
		"one of them leaves": {all, func(s *subnet) {
			s.nodes, s.left = [2]int{9, 8}, []string{"ufm-01 mlx5_0"}
		}, check.Passed, "ufm-01/mlx5_0", "left the subnet"},
		"an own node leaves, too": {all, func(s *subnet) {
			s.nodes, s.left = [2]int{9, 7}, []string{"ufm-01 mlx5_0", "gpu-02 mlx5_1"}
		}, check.Failed, "gpu-02/mlx5_1", "left the subnet"},
		"an own node leaves":   {all, func(s *subnet) { s.nodes, s.left = [2]int{9, 8}, []string{"gpu-02 mlx5_1"} }, check.Failed, "gpu-02/mlx5_1", "left the subnet"},
		"an own switch leaves": {all, func(s *subnet) { s.nodes, s.left = [2]int{9, 8}, []string{"spine-0"} }, check.Failed, "spine-0", "left the subnet"},
		"a node leaves and returns": {all, func(s *subnet) { s.nodes = [2]int{9, 8} }, check.Unobserved, "fabric",
			"1 nodes left the subnet during the soak (9, then 8), and iblinkinfo does not show which ones"},
		"names of those that left are unknown": {all, func(s *subnet) {
			s.nodes = [2]int{9, 8}
			healthy, calls := s.iblinkinfo(), 0
			s.instead["gpu-01 iblinkinfo"] = func() (ssh.Output, error) {
				if calls++; calls > 1 {
					return ssh.Output{}, errGone
				}
				return ssh.Output{Stdout: []byte(healthy)}, nil
			}
		}, check.Unobserved, "fabric", "their names are unknown"},
		"one of them does not answer":               {all, func(s *subnet) { s.unanswered, s.silent = [2]int{1, 1}, []string{"storage-01 HCA-1"} }, check.Passed, "storage-01/HCA-1", "not answered"},
		"one of them and an own do not answer":      {all, func(s *subnet) { s.unanswered[1], s.silent = 2, []string{"storage-01 HCA-1", "leaf-0"} }, check.Unobserved, "fabric", "1 queries of error counters"},
		"an unnamed one does not answer":            {all, func(s *subnet) { s.unanswered[1], s.silent = 2, []string{"storage-01 HCA-1"} }, check.Unobserved, "fabric", "1 queries of error counters"},
		"an own does not answer, none is of others": {all, func(s *subnet) { s.unanswered[0], s.silent = 1, []string{"gpu-01 mlx5_0"} }, check.Unobserved, "fabric", "1 queries of error counters"},
		"none is allowed":                           {nil, func(*subnet) {}, check.Failed, "storage-01/HCA-1", "is in the subnet, at leaf-1/port60, and neither the site's nor in its fabric.others"},
		"one is not allowed":                        {all[:1], func(*subnet) {}, check.Failed, "storage-01/HCA-1", "fabric.others"},
		"another GUID":                              {[]string{"ufm-* *", "0xb8599f0300110021"}, func(*subnet) {}, check.Failed, "storage-01/HCA-1", "fabric.others"},
		"one more that iblinkinfo does not list": {all, func(s *subnet) {
			s.summary = strings.Replace(s.summary, "Adapters     : 6", "Adapters     : 7", 1)
		}, check.Failed, "fabric", "3 switches and 7 adapters, 2 of them of others"},
		"an own adapter is missing": {all, func(s *subnet) {
			s.summary = strings.Replace(s.summary, "Adapters     : 6", "Adapters     : 5", 1)
		}, check.Failed, "fabric", "the site expects 3 and 4"},
		"an own link is slow": {all, func(s *subnet) { s.of("gpu-02 mlx5_1").lane = 53.125 }, check.Failed, "gpu-02/mlx5_1", "53.125"},
		"an own counter grows": {all, func(s *subnet) {
			s.of("gpu-02 mlx5_1").after[0] = map[string]int{"PortRcvErrors": 14, "SymbolErrorCounter": 900}
		}, check.Failed, "gpu-02/mlx5_1", "SymbolErrorCounter"},
		"ibdiagnet names an own link, too": {all, func(s *subnet) {
			s.errors["Speed / Width checks"] = []string{
				"Link: " + s.diagPort("leaf-1", 60) + "<-->" + s.diagPort("storage-01 HCA-1", 1) + " - Unexpected actual link speed 53.125",
				"Link: " + s.diagPort("leaf-1", 2) + "<-->" + s.diagPort("gpu-02 mlx5_1", 1) + " - Unexpected actual link speed 53.125",
			}
		}, check.Failed, "gpu-02/mlx5_1", "ibdiagnet: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSubnet()
			withOthers(s)
			tt.vary(s)
			obs := look(t, s)
			of, p := declared()
			of.Fabric.Others = tt.others
			j := plan.Judge(fabric.New(of, p, onhost.Deps{}), obs)
			if j.Verdict != tt.verdict {
				t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
			if tt.suspect != "" && !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
				return f.Suspect == tt.suspect && strings.Contains(f.Message, tt.message) && f.Remedy != ""
			}) {
				t.Errorf("no finding %s %q in %+v", tt.suspect, tt.message, j.Findings)
			}
		})
	}
}

// A reading with a query that a node of others does not answer may lack other nodes, too: a switch that does
// not answer the discovery is missing with the nodes behind it, and only a warning or the exit code shows it.
func TestOthersDoNotHideWhatIsMissing(t *testing.T) {
	t.Parallel()
	const (
		device  = "ibwarn: [4711] _do_madrpc: recv failed: Connection timed out\n"
		call    = "ibwarn: [4711] mad_rpc: _do_madrpc failed; dport (Lid 25)\n"
		another = "ibwarn: [4711] mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0,1,5)\n"
		smp     = "src/query_smp.c:197; umad (DR path slid 0; dlid 0; 0,1,5 Attr 0x11:0) bad status 110; Connection timed out\n"
	)
	for name, tt := range map[string]struct {
		before, stderr string
		exit           int
		want           check.Verdict
	}{
		"its own query":                     {"", device + call, 1, check.Passed},
		"a line of the discovery on stdout": {device, "", 1, check.Unobserved},
		"a line of the discovery on stderr": {"", smp, 1, check.Unobserved},
		"a query of another address":        {"", device + another + device + call, 1, check.Unobserved},
		"another exit code":                 {"", device + call, 255, check.Unobserved},
	} {
		s := newSubnet()
		withOthers(s)
		s.unanswered, s.silent = [2]int{1, 1}, []string{"storage-01 HCA-1"}
		calls := 0
		s.instead["gpu-01 ibqueryerrors"] = func() (ssh.Output, error) {
			calls++
			return ssh.Output{Stdout: []byte(tt.before + s.ibqueryerrors(calls-1)), Stderr: []byte(tt.stderr + s.warnings(calls-1)), Exit: tt.exit}, nil
		}
		of, p := declared()
		of.Fabric.Others = []string{"ufm-* *", "storage-*"}
		if j := plan.Judge(fabric.New(of, p, onhost.Deps{}), look(t, s)); j.Verdict != tt.want {
			t.Errorf("%s: %s: %s %+v, want %s", name, j.Verdict, j.Reason, j.Findings, tt.want)
		}
	}
}

// Errors of others are subtracted from those of a stage; no own error is, whatever the stage counts.
func TestErrorsBesideThoseOfOthers(t *testing.T) {
	t.Parallel()
	const stage, closing = "Speed / Width checks", "Link Speed Check finished with errors"
	s := newSubnet()
	withOthers(s)
	theirs := "Link: " + s.diagPort("leaf-1", 60) + "<-->" + s.diagPort("storage-01 HCA-1", 1) + " - Unexpected actual link speed 53.125"
	own := "Link: " + s.diagPort("leaf-1", 2) + "<-->" + s.diagPort("gpu-02 mlx5_1", 1) + " - Unexpected actual link speed 53.125"
	for name, tt := range map[string]struct {
		lines   []string
		counted int
		errors  float64
		suspect string
	}{
		"theirs alone":                  {[]string{theirs, closing}, 2, 0, ""},
		"theirs, without the last line": {[]string{theirs, closing}, 1, 0, ""},
		"own and theirs":                {[]string{theirs, own, closing}, 3, 2, "gpu-02/mlx5_1"},
		"the last line is not counted":  {[]string{theirs, own, closing}, 2, 1, "gpu-02/mlx5_1"},
		"the last line alone":           {[]string{closing}, 1, 1, "fabric"},
		"more errors than lines":        {[]string{theirs, closing}, 3, 1, "fabric"},
		"an error that names no link":   {[]string{theirs, "the check was aborted", closing}, 2, 1, "fabric"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSubnet()
			withOthers(s)
			s.errors[stage] = tt.lines
			of, p := declared()
			of.Fabric.Others = []string{"ufm-* *", "storage-*"}
			obs := counting(t, look(t, s), stage, tt.counted)
			j := plan.Judge(fabric.New(of, p, onhost.Deps{}), obs)
			if (j.Verdict == check.Passed) != (tt.suspect == "") || tt.suspect != "" && j.Findings[0].Suspect != tt.suspect {
				t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
			for _, want := range []check.Figure{{Name: "ibdiagnet errors", Value: tt.errors}, {Name: "subnet nodes of others", Value: 2}} {
				if !slices.ContainsFunc(j.Figures, func(f check.Figure) bool { return f.Name == want.Name && f.Value == want.Value }) {
					t.Errorf("no figure %s %g: %+v", want.Name, want.Value, j.Figures)
				}
			}
		})
	}
}

// counting sets the number of errors in ibdiagnet's row of a stage.
func counting(t *testing.T, obs []check.Observation, stage string, errors int) []check.Observation {
	t.Helper()
	i := slices.IndexFunc(obs, func(o check.Observation) bool { return o.Kind == "ibdiagnet" })
	report, err := check.Decode[infiniband.DiagnetReport](obs[i])
	if err != nil {
		t.Fatal(err)
	}
	report.Stages[slices.IndexFunc(report.Stages, func(s infiniband.DiagnetStage) bool { return s.Name == stage })].Errors = errors
	if obs[i], err = obs[i].WithFigures(report); err != nil {
		t.Fatal(err)
	}
	return obs
}

// diagPort is a port as ibdiagnet's error lines have it.
func (s *subnet) diagPort(node string, port int) string {
	return fmt.Sprintf("S%016x/N%016x/P%d", s.guids[node], s.guids[node], port)
}
