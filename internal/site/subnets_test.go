package site_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/site"
)

const twoSubnets = `  subnets:
    - {name: rails-a, hcas: [mlx5_0, mlx5_1, mlx5_2, mlx5_3], switches: [leaf-1, spine-1], links: 17}
    - {name: rails-b, hcas: [mlx5_4, mlx5_5, mlx5_6, mlx5_7], port: mlx5_8:2, switches: [leaf-1, spine-1], links: 17, topology: fat-tree, others: [ufm-*], design: b.ibnetdiscover}
`

// subnetsFile is the example with two subnets.
func subnetsFile(t *testing.T, subnets string) []byte {
	t.Helper()
	text := regexp.MustCompile(`(?m)^  (switches|links|topology): .*\n`).ReplaceAllString(string(site.Example()), "")
	if strings.Contains(text, "\n  links:") || !strings.Contains(text, "\n  soak: 10m") {
		t.Fatal("the example has other keys")
	}
	return []byte(strings.Replace(text, "\n  soak: 10m", "\n"+subnets+"  soak: 10m", 1))
}

func TestSubnets(t *testing.T) {
	t.Parallel()
	s, err := site.Parse("s.yaml", subnetsFile(t, twoSubnets))
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.OnSubnet(0).Fabric, s.OnSubnet(1).Fabric
	if a.Via != (site.Via{HCA: "mlx5_0", Port: 1}) || b.Via != (site.Via{HCA: "mlx5_8", Port: 2}) || a.Links != 17 || len(a.Subnets) > 0 || a.Soak != s.Fabric.Soak {
		t.Errorf("%+v\n%+v", a, b)
	}
	if diff := cmp.Diff([]string{"mlx5_4", "mlx5_5", "mlx5_6", "mlx5_7"}, b.HCAs); diff != "" || b.Topology != site.FatTree || !slices.Equal(b.Others, []string{"ufm-*"}) || b.Design != "b.ibnetdiscover" {
		t.Errorf("%s%+v", diff, b)
	}
	if byGUID, err := site.Parse("s.yaml", subnetsFile(t, strings.Replace(twoSubnets, "leaf-1", "0xFC6A1c0300b00580", 1))); err != nil || byGUID.Fabric.Subnets[0].Switches[0] != "0xFC6A1c0300b00580" {
		t.Errorf("a switch by its GUID: %v %+v", err, byGUID)
	}
	if less := s.Without([]string{"gpu-02"}); less.OnSubnet(1).Fabric.Links != 13 || s.OnSubnet(1).Fabric.Links != 17 {
		t.Errorf("without a node: %d links, with it %d", less.OnSubnet(1).Fabric.Links, s.OnSubnet(1).Fabric.Links)
	}
}

func TestInvalidSubnets(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ old, new, says string }{
		"one subnet":                 {"    - {name: rails-b", "    # - {name: rails-b", "fabric.subnets: has one subnet"},
		"an adapter on no subnet":    {"hcas: [mlx5_0, ", "hcas: [", "no subnet has mlx5_0"},
		"an adapter on two subnets":  {"[mlx5_4,", "[mlx5_0, mlx5_4,", `fabric.subnets.1.hcas.0: duplicate value "mlx5_0"`},
		"an adapter of no fabric":    {"[mlx5_4,", "[mlx5_9, mlx5_4,", `"mlx5_9" is not in fabric.hcas`},
		"no name":                    {"name: rails-a, ", "", "fabric.subnets.0.name"},
		"one name twice":             {"rails-a", "rails-b", "duplicate value"},
		"no adapters":                {"hcas: [mlx5_0, mlx5_1, mlx5_2, mlx5_3]", "hcas: []", "fabric.subnets.0.hcas: is empty"},
		"no switches":                {"switches: [leaf-1, spine-1], links: 17}", "links: 17}", "fabric.subnets.0.switches: is empty"},
		"a switch of no GUID":        {"switches: [leaf-1, spine-1], links: 17}", "switches: [leaf-1, 0xfc6a1c0300b00580g], links: 17}", "fabric.subnets.0.switches.1: invalid GUID"},
		"too few links":              {"links: 17}", "links: 15}", "fabric.subnets.0.links: 15 is impossible: 4 nodes x 4 HCAs"},
		"a port without an adapter":  {"mlx5_8:2", `":2"`, "fabric.subnets.1.port"},
		"no port":                    {"mlx5_8:2", "mlx5_8:x", "fabric.subnets.1.port"},
		"port zero":                  {"mlx5_8:2", "mlx5_8:0", "fabric.subnets.1.port"},
		"another topology":           {"fat-tree", "torus", "fabric.subnets.1.topology"},
		"others that hide its own":   {"ufm-*", "leaf-*", "fabric.subnets.1.others.0"},
		"an unknown key":             {"port: mlx5_8:2", "ports: mlx5_8:2", "ports"},
		"keys of one subnet as well": {"  subnets:\n", "  links: 34\n  subnets:\n", "fabric.links: must not be set with fabric.subnets"},
	} {
		_, err := site.Parse("s.yaml", subnetsFile(t, strings.Replace(twoSubnets, tt.old, tt.new, 1)))
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		}
	}
	roce := strings.Replace(string(subnetsFile(t, twoSubnets)), "profile: h100-sxm-ndr400", "profile: h100-sxm-roce400", 1)
	if _, err := site.Parse("s.yaml", []byte(roce)); err == nil || !strings.Contains(err.Error(), "fabric.subnets: must not be set") {
		t.Errorf("RoCE: %v", err)
	}
}
