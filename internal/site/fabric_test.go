package site_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
)

// cut takes a block out of the example: from the line that begins with its key to the
// next line that is not indented.
func cut(t *testing.T, text, key string) string {
	t.Helper()
	before, rest, ok := strings.Cut(text, "\n"+key+":")
	if !ok {
		t.Fatalf("the example has no %q", key)
	}
	for {
		_, after, ok := strings.Cut(rest, "\n")
		if !ok || !strings.HasPrefix(after, " ") {
			return before + "\n" + after
		}
		rest = after
	}
}

// oneGPU is the example on hardware without a compute fabric.
func oneGPU(t *testing.T, fabric, notApplicable string) string {
	t.Helper()
	text := cut(t, string(site.Example()), "fabric")
	text = strings.Replace(text, "profile: h100-sxm-ndr400", "profile: a3-highgpu-1g", 1)
	text = strings.Replace(text, "loadGPUs: 4", "loadGPUs: 2", 1)
	return text + "\n" + fabric + notApplicable
}

const reasons = "notApplicable:\n  fabric: Ethernet only\n  collective: one GPU a node\n"

func TestWithoutAFabric(t *testing.T) {
	t.Parallel()
	s, err := site.Parse("s.yaml", []byte(oneGPU(t, "", reasons)))
	if err != nil {
		t.Fatal(err)
	}
	if s.NotApplicable["collective"] != "one GPU a node" || len(s.Fabric.HCAs) > 0 {
		t.Errorf("%+v", s)
	}
	for name, tt := range map[string]struct {
		fabric, notApplicable string
		want                  []string
	}{
		"gates that have nothing to look at": {"", "", []string{"nothing for gate fabric", "nothing for gate collective"}},
		"one of them":                        {"", "notApplicable:\n  fabric: Ethernet only\n", []string{"nothing for gate collective"}},
		"a fabric despite the reasons": {
			"fabric: {switches: [leaf-0], hcas: [mlx5_0], links: 4, topology: fat-tree, networkResource: rdma/ib, networkResourceCount: 1}\n", reasons,
			[]string{"fabric.switches: must not be set", "fabric.hcas: must not be set", "fabric.links: must not be set", "fabric.topology: must not be set", "fabric.networkResource: must not be set", "fabric.networkResourceCount: must not be set"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := site.Parse("s.yaml", []byte(oneGPU(t, tt.fabric, tt.notApplicable)))
			invalid, ok := errors.AsType[*site.InvalidError](err)
			if !ok || len(invalid.Problems) != len(tt.want) {
				t.Fatalf("got %v, want %d problems", err, len(tt.want))
			}
			for i, want := range tt.want {
				if !strings.Contains(invalid.Problems[i].Message, want) {
					t.Errorf("%q, want %q", invalid.Problems[i].Message, want)
				}
			}
		})
	}
}

// TestOtherFabrics: a site of a fabric other than InfiniBand has no keys of a subnet, and declares
// gate fabric as not applicable.
func TestOtherFabrics(t *testing.T) {
	t.Parallel()
	const ports = "fabric: {networkResource: vpc.amazonaws.com/efa, networkResourceCount: 32}\n"
	const devices = "hcas: [mlx5_0, mlx5_1, mlx5_2, mlx5_3, mlx5_4, mlx5_5, mlx5_6, mlx5_7]"
	const subnet = "fabric: {switches: [leaf-0], " + devices + ", links: 64, topology: fat-tree, soak: 10m, networkResource: rdma/ib, networkResourceCount: 8}\n"
	const reason = "notApplicable:\n  fabric: no subnet\n"
	roce := func(keys string) string {
		return "fabric: {" + devices + ", networkResource: rdma/roce, networkResourceCount: 8" + keys + "}\n"
	}
	for name, tt := range map[string]struct {
		profile, fabric, notApplicable string
		want                           []string
	}{
		"EFA, not judged":             {"h100-sxm-efa-p5", ports, reason, nil},
		"EFA":                         {"h100-sxm-efa-p5", strings.Replace(ports, "{", "{soak: 10m, ", 1), "", nil},
		"EFA without a soak":          {"h100-sxm-efa-p5", ports, "", []string{"fabric.soak: is missing"}},
		"TCPXO without the reason":    {"h100-sxm-tcpxo", "", "", []string{"nothing for gate fabric to look at (the fabric is of kind tcpxo"}},
		"EFA with a subnet":           {"h100-sxm-efa-p5", subnet, reason, []string{"fabric.switches: must not be set", "fabric.links: must not", "fabric.topology: must not", "fabric.hcas: must not be set: profile h100-sxm-efa-p5 has no InfiniBand or RoCE devices"}},
		"EFA without its resource":    {"h100-sxm-efa-p5", "", reason, []string{"fabric.networkResource: invalid extended resource", "fabric.networkResourceCount: must be"}},
		"TCPXO has no resource":       {"h100-sxm-tcpxo", "", reason, nil},
		"RoCE, not judged":            {"h100-sxm-roce400", roce(""), reason, nil},
		"RoCE":                        {"h100-sxm-roce400", roce(", roce: {priority: 0}, soak: 10m"), "", nil},
		"RoCE with a DSCP":            {"h100-sxm-roce400", roce(", roce: {priority: 3, dscp: 26, without: [pfc, ecn]}, soak: 10m"), "", nil},
		"RoCE without its priority":   {"h100-sxm-roce400", roce(", roce: {dscp: 26}"), "", []string{"fabric.soak: is missing", "fabric.roce: is missing"}},
		"RoCE out of range":           {"h100-sxm-roce400", roce(", roce: {priority: 8, dscp: 64, without: [pause]}, soak: 10m"), "", []string{"invalid priority 8", "invalid DSCP 64", `fabric.roce.without.0: "pause" is not one of pfc, ecn`}},
		"RoCE of an InfiniBand site":  {"h100-sxm-ndr400", strings.Replace(subnet, "soak:", "roce: {priority: 3}, soak:", 1), "", []string{"fabric.roce: must not be set"}},
		"RoCE without its devices":    {"h100-sxm-roce400", "fabric: {networkResource: rdma/roce, networkResourceCount: 8}\n", reason, []string{"fabric.hcas: lists 0 devices"}},
		"several nodes without one":   {"h100-sxm", "", "notApplicable:\n  fabric: none\n", []string{"gate collective to look at (no compute fabric connects 4 nodes)"}},
		"a rack of one domain":        {"gb200-nvl72", "", "notApplicable:\n  fabric: none\n", nil},
		"InfiniBand as it always was": {"h100-sxm-ndr400", subnet, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(cut(t, string(site.Example()), "fabric"), "profile: h100-sxm-ndr400", "profile: "+tt.profile, 1)
			_, err := site.Parse("s.yaml", []byte(text+"\n"+tt.fabric+tt.notApplicable))
			if len(tt.want) == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			invalid, ok := errors.AsType[*site.InvalidError](err)
			if !ok || len(invalid.Problems) != len(tt.want) {
				t.Fatalf("got %v, want %d problems", err, len(tt.want))
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
			}
		})
	}
}
