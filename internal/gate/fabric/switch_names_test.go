package fabric_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Switches without MLNX-OS have one description: the site has their GUIDs.
func TestSwitchesByGUID(t *testing.T) {
	t.Parallel()
	const description = "Quantum Mellanox Technologies"
	unmanaged := func() (*subnet, *site.Site, *profile.Profile) {
		s := newSubnet()
		of, p := declared()
		for i, name := range of.Fabric.Switches {
			of.Fabric.Switches[i] = fmt.Sprintf("0x%016X", s.guids[name])
		}
		s.description = map[string]string{"leaf-0": description, "leaf-1": description, "spine-0": description}
		of.Fabric.Design = filepath.Join(t.TempDir(), "design.txt")
		if err := os.WriteFile(of.Fabric.Design, []byte(s.ibnetdiscover()), 0o600); err != nil {
			t.Fatal(err)
		}
		return s, of, p
	}
	for name, tt := range map[string]struct {
		vary    func(*subnet)
		site    func(*site.Fabric)
		verdict check.Verdict
		suspect string
		message string
	}{
		"healthy":                   {func(*subnet) {}, func(*site.Fabric) {}, check.Passed, "", ""},
		"an uplink in another port": {func(s *subnet) { s.of("leaf-1").bPort = 7 }, func(*site.Fabric) {}, check.Failed, "0xA088C20300D70010/port33", "moved cable"},
		"a slow host link":          {func(s *subnet) { s.of("gpu-02 mlx5_1").lane = 53.125 }, func(*site.Fabric) {}, check.Failed, "gpu-02/mlx5_1", "53.125"},
		"errors of an uplink": {func(s *subnet) {
			s.of("leaf-1").after[0] = map[string]int{"PortRcvErrors": 14, "SymbolErrorCounter": 9}
		}, func(*site.Fabric) {}, check.Failed, "0xA088C20300D70010/port33", "SymbolErrorCounter"},
		"ibdiagnet names a switch": {func(s *subnet) {
			s.errors["Port Counters"] = []string{s.diagPort("leaf-0", 33) + " - something is wrong"}
		}, func(*site.Fabric) {}, check.Failed, "0xA088C20300D70000/port33", "something is wrong"},
		"a switch is gone": {func(*subnet) {}, func(f *site.Fabric) { f.Switches[2] = "0x00000000000000AA" }, check.Failed, "0x00000000000000AA", "is not in the subnet"},
		"by the description, a slow host link": {func(s *subnet) { s.of("gpu-02 mlx5_1").lane = 53.125 }, func(f *site.Fabric) { f.Switches = []string{"leaf-0"} }, check.Failed,
			"gpu-02/mlx5_1", "link gpu-02/mlx5_1 to " + description + "/port2 runs at 53.125"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, of, p := unmanaged()
			tt.vary(s)
			tt.site(&of.Fabric)
			checktest.Judged(t, plan.Judge(fabric.New(of, p, onhost.Deps{}), lookAt(t, s, of, p)), tt.verdict, tt.suspect, tt.message)
		})
	}
}

// ibdiagnet names a managed switch by its system: "leaf-1/U1". A node that is left out is found by its description.
func TestNamesOfManagedSwitches(t *testing.T) {
	t.Parallel()
	s := newSubnet()
	of, p := declared()
	for _, l := range s.links {
		for _, end := range []*string{&l.a, &l.b} {
			if name := "MF0;" + *end + ":MQM9700/U1"; !strings.Contains(*end, " ") {
				s.guids[name] = s.guids[*end]
				*end = name
			}
		}
	}
	for i, name := range of.Fabric.Switches {
		of.Fabric.Switches[i] = "MF0;" + name + ":MQM9700/U1"
	}
	s.errors["Speed / Width checks"] = []string{"Link: leaf-1/U1/P33<-->spine-0/U1/P2 - Unexpected actual link speed 53.125"}
	checktest.Judged(t, plan.Judge(fabric.New(of, p, onhost.Deps{}), lookAt(t, s, of, p)), check.Failed, "MF0;leaf-1:MQM9700/U1/port33", "ibdiagnet: ")
	s.errors["Speed / Width checks"] = []string{"Link: leaf-1/U1/P2<-->gpu-02/mlx5_1/P1 - Unexpected actual link speed 53.125", "gpu-02/U2/P1 - something is wrong"}
	checktest.Judged(t, plan.Judge(fabric.New(of, p, onhost.Deps{}).Excluding([]string{"gpu-02"}), lookAt(t, s, of, p)), check.Passed, "", "")
}
