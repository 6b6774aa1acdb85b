package fabric_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/chart"
	"github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// wired observes a subnet, whose design is that of the healthy one with the same change.
func wired(t *testing.T, rename *strings.Replacer, spoil func(*subnet)) ([]check.Observation, *site.Site, *profile.Profile) {
	t.Helper()
	of, p := declared()
	of.Fabric.Design = filepath.Join(t.TempDir(), "design.txt")
	if err := os.WriteFile(of.Fabric.Design, []byte(rename.Replace(newSubnet().ibnetdiscover())), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSubnet()
	spoil(s)
	s.instead["gpu-01 ibnetdiscover"] = says(rename.Replace(s.ibnetdiscover()), "", 0)
	return lookAt(t, s, of, p), of, p
}

// miscabled has a cable of each kind of difference.
func miscabled(s *subnet) {
	a, b := s.of("gpu-02 mlx5_0"), s.of("gpu-02 mlx5_1")
	a.b, a.bPort, b.b, b.bPort = b.b, b.bPort, a.b, a.bPort
	s.links = s.links[:len(s.links)-1] // leaf-1's uplink
	s.of("gpu-01 mlx5_1").bPort = 9
	s.link("leaf-0", 40, "leaf-1", 40)
}

// The report draws the cables that differ: the fabric as wired and the fabric as designed, in tiers.
func TestCablesThatDifferAreDrawn(t *testing.T) {
	t.Parallel()
	obs, s, p := wired(t, strings.NewReplacer(), miscabled)
	charts := fabric.New(s, p, onhost.Deps{}).Charts(obs)
	if len(charts) != 1 || charts[0].Note != "4 of 6 cables of the design are elsewhere or missing; cables as designed are not drawn" {
		t.Fatalf("%+v", charts)
	}
	svg := string(charts[0].SVG())
	golden.Compare(t, "testdata/cables.svg", strings.ReplaceAll(svg, "><", ">\n<")+"\n")
	for _, text := range []string{
		"swapped cable: gpu-02/mlx5_0 to leaf-0/port2, in the design only", "swapped cable: gpu-02/mlx5_0 to leaf-1/port2, not in the design",
		"missing cable: leaf-1/port33 to spine-0/port2, in the design only", "extra cable: leaf-0/port40 to leaf-1/port40, not in the design",
		"moved cable: gpu-01/mlx5_1 to leaf-1/port9, not in the design",
	} {
		label, _, _ := strings.Cut(svg[strings.Index(svg, `aria-label="`):], `">`)
		if !strings.Contains(label, text) || !strings.Contains(svg, "<title>"+text+"</title>") {
			t.Errorf("%q is not in the text of the drawing and of its line", text)
		}
	}
	for _, text := range []string{">hosts<", ">leaves<", ">spines<", ">p33<", ">mlx5_0<"} {
		if !strings.Contains(svg, text) {
			t.Errorf("%q is missing", text)
		}
	}
	if strings.Contains(svg, "leaf-0/port33") {
		t.Error("a cable as designed is drawn")
	}
}

// A fabric as designed, a fabric without a design and an unobserved one have no drawing.
func TestNothingIsDrawnWithoutDifferences(t *testing.T) {
	t.Parallel()
	obs, s, p := wired(t, strings.NewReplacer(), func(*subnet) {})
	if got := fabric.New(s, p, onhost.Deps{}).Charts(obs); got != nil {
		t.Errorf("as designed: %+v", got)
	}
	obs, s, p = wired(t, strings.NewReplacer(), miscabled)
	without := slices.DeleteFunc(slices.Clone(obs), func(o check.Observation) bool { return o.Kind == "ibnetdiscover" })
	if got := fabric.New(s, p, onhost.Deps{}).Charts(without); got != nil {
		t.Errorf("not observed: %+v", got)
	}
	s.Fabric.Design = ""
	if got := fabric.New(s, p, onhost.Deps{}).Charts(obs); got != nil {
		t.Errorf("without a design: %+v", got)
	}
}

// The names of nodes are texts of others.
func TestHostileNamesAreDrawnAsText(t *testing.T) {
	t.Parallel()
	obs, s, p := wired(t, strings.NewReplacer(
		`leaf-1`, `</title></svg><script>alert(1)</script>`, `gpu-02 mlx5_1`, `gpu-02 x'onload=alert(1) & <b>`, `spine-0`, "spine\x01\u202egnp.\u2028"+strings.Repeat("é", 200),
	), miscabled)
	charts := fabric.New(s, p, onhost.Deps{}).Charts(obs)
	if len(charts) != 1 {
		t.Fatalf("%d charts", len(charts))
	}
	svg := string(charts[0].SVG())
	for _, raw := range []string{"<script", "<b>", "x'onload", "\x01", "\u202e", "\u2028", ">" + strings.Repeat("é", 17)} {
		if strings.Contains(svg, raw) {
			t.Errorf("%q is in the drawing", raw)
		}
	}
	if !strings.Contains(svg, "&lt;script&gt;alert(1)") || strings.Count(svg, "<svg") != 1 || strings.Count(svg, "</svg>") != 1 {
		t.Error(svg)
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
	}
}

// The drawing of a subnet names it, and has its differences alone.
func TestEachSubnetIsDrawnByItself(t *testing.T) {
	t.Parallel()
	wrong, _, _ := wired(t, strings.NewReplacer(), miscabled)
	right, _, _ := wired(t, strings.NewReplacer(), func(*subnet) {})
	s, p := several()
	s.Fabric.Subnets[0].Design, s.Fabric.Subnets[1].Design = "a", "b"
	charts := fabric.NewSubnets(s, p, onhost.Deps{}).Charts(append(in("a", right), in("b", wrong)...))
	if len(charts) != 1 || charts[0].Title != "Subnet b: Cables that differ from the design" {
		t.Errorf("%+v", charts)
	}
}

// Core switches are above the spines, and a switch that no cable joins to a host is among the spines.
func TestTiers(t *testing.T) {
	t.Parallel()
	cores := func(s *subnet) {
		s.guids["core-0"], s.guids["apart-0"], s.guids["apart-1"] = 0xc0, 0xc1, 0xc2
		s.link("spine-0", 60, "core-0", 1)
		s.link("apart-0", 1, "apart-1", 1)
	}
	obs, s, p := wired(t, strings.NewReplacer(), cores)
	charts := fabric.New(s, p, onhost.Deps{}).Charts(obs)
	if len(charts) != 1 {
		t.Fatalf("%+v", charts)
	}
	tiers := map[string]string{}
	for _, group := range charts[0].Network.Groups {
		for _, l := range group {
			for _, end := range []chart.Port{l.A, l.B} {
				tiers[end.Node] = charts[0].Network.Tiers[end.Tier]
			}
		}
	}
	if tiers["core-0"] != "cores" || tiers["spine-0"] != "spines" || tiers["apart-1"] != "spines" {
		t.Error(tiers)
	}
}
