package chart

import (
	"fmt"
	"strings"
	"testing"
)

// cables are links from hosts to one leaf, each from a host of its own.
func cables(n int) []Link {
	var out []Link
	for i := range n {
		out = append(out, Link{A: Port{0, fmt.Sprintf("gpu-%03d", i), "mlx5_0"}, B: Port{1, "leaf-0", fmt.Sprintf("p%d", i+1)}, Hint: fmt.Sprintf("cable %d", i)})
	}
	return out
}

// A network of any size has a drawing of one page's width, which says what it lacks.
func TestANetworkIsDrawnUpToTheWidthOfThePage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		groups  [][]Link
		drawn   int
		missing string
	}{
		"all":                        {[][]Link{cables(3)}, 3, ""},
		"as many as fit":             {[][]Link{cables(8)}, 8, ""},
		"one more":                   {[][]Link{cables(9)}, 8, "not drawn: 1 of 9 links, 1 of 10 nodes"},
		"of a thousand nodes":        {[][]Link{cables(1000)}, 8, "not drawn: 992 of 1000 links, 992 of 1001 nodes"},
		"none after a group's break": {[][]Link{cables(4), cables(1000), {{A: Port{2, "spine-0", "p1"}, B: Port{1, "leaf-0", "p1"}}}}, 12, "not drawn: 993 of 1005 links, 993 of 1002 nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Chart{Title: "Cables", Network: &Network{Tiers: []string{"hosts", "leaves", "spines"}, Groups: tt.groups}}
			svg := string(c.SVG())
			wellFormed(t, svg)
			if got := strings.Count(svg, "<path "); got != tt.drawn || c.Empty() {
				t.Errorf("%d links, want %d", got, tt.drawn)
			}
			if n := strings.Count(svg, "not drawn"); tt.missing == "" && n > 0 || tt.missing != "" && (n != 2 || !strings.Contains(svg, `; `+tt.missing+`">`) || !strings.Contains(svg, ">"+tt.missing+"</text>")) {
				t.Errorf("want %q in the text and the drawing:\n%s", tt.missing, svg)
			}
		})
	}
}

func TestLinksOfANetwork(t *testing.T) {
	t.Parallel()
	leaf := func(n int, port string) Port { return Port{1, fmt.Sprintf("leaf-%d", n), port} }
	svg := string(Chart{Network: &Network{Groups: [][]Link{{
		{A: leaf(10, "p1"), B: leaf(9, "p1"), Hint: "within a tier"},
		{A: leaf(9, "p2"), B: Port{7, "far", "p1"}, Series: Colours + 1, Dashed: true, Hint: "a tier without a label"},
	}}}}.SVG())
	wellFormed(t, svg)
	for _, want := range []string{`<title>within a tier</title><path class="line" d="M`, `<g class="s1"><title>a tier without a label</title><path class="line dashed"`, `viewBox="0 0 720 256"`} {
		if !strings.Contains(svg, want) {
			t.Errorf("lacks %s:\n%s", want, svg)
		}
	}
	if strings.Index(svg, ">leaf-9<") > strings.Index(svg, ">leaf-10<") {
		t.Error("leaf-10 is before leaf-9")
	}
	none := Chart{Network: &Network{Groups: [][]Link{nil}}}
	wellFormed(t, string(none.SVG()))
	if !none.Empty() {
		t.Error("a network without links is not empty")
	}
}
