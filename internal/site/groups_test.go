package site_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

func withGroups(groups string) []byte {
	return []byte(strings.Replace(string(site.Example()), "\nreach:\n", "\ngroups: ["+groups+"]\n\nreach:\n", 1))
}

func TestGroups(t *testing.T) {
	t.Parallel()
	const h200 = "profile: h200-sxm-ndr400"
	for groups, says := range map[string]string{
		"{name: new, " + h200 + ", nodes: [gpu-03, gpu-04]}":                                 "",
		"{name: a, " + h200 + ", nodes: [gpu-03]}, {name: b, " + h200 + ", nodes: [gpu-04]}": "",
		"{name: a, " + h200 + ", nodes: [gpu-03]}, {name: b, " + h200 + ", nodes: [gpu-03]}": "groups.1.nodes.0",
		"{name: a, " + h200 + ", nodes: [gpu-03]}, {name: a, " + h200 + ", nodes: [gpu-04]}": "groups.1.name",
		"{name: h100-sxm-ndr400, " + h200 + ", nodes: [gpu-03]}":                             "the site's profile",
		"{name: New, " + h200 + ", nodes: [gpu-03]}":                                         "groups.0.name",
		"{name: new, " + h200 + "}":                                                          "groups.0.nodes: is missing",
		"{name: new, " + h200 + ", nodes: [gpu-99]}":                                         `groups.0.nodes.0: "gpu-99" is not in inventory.nodes`,
		"{name: new, " + h200 + ", nodes: [gpu-01, gpu-02, gpu-03, gpu-04]}":                 "groups: have all nodes",
		"{name: new, profile: no-such-thing, nodes: [gpu-03]}":                               "groups.0.profile",
		"{name: new, profile: h100-sxm-hdr200, nodes: [gpu-03]}":                             "groups.0.profile",
		"{name: new, " + h200 + ", nodes: [gpu-03], racks: [r1]}":                            "racks",
	} {
		_, err := site.Parse("s.yaml", withGroups(groups))
		switch {
		case says == "" && err != nil:
			t.Errorf("%s: %v", groups, err)
		case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
			t.Errorf("%s: %v, want %q", groups, err, says)
		}
	}
}

// The views of a site are its nodes, each once, each with its group's profile.
func TestViews(t *testing.T) {
	t.Parallel()
	s, err := site.Parse("s.yaml", withGroups("{name: new, profile: h200-sxm-ndr400, nodes: [gpu-02, gpu-04]}"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	views := s.Views(p)
	if len(views) != 2 {
		t.Fatalf("%d views", len(views))
	}
	for i, want := range []struct {
		name, profile string
		nodes         []string
	}{{p.Name, p.Name, []string{"gpu-01", "gpu-03"}}, {"new", "h200-sxm-ndr400", []string{"gpu-02", "gpu-04"}}} {
		v := views[i]
		if v.Name != want.name || v.Profile.Name != want.profile || !slices.Equal(v.Site.NodeNames(), want.nodes) || len(v.Site.Inventory.LeftOut) != 2 {
			t.Errorf("view %s of %s has %v and leaves out %v", v.Name, v.Profile.Name, v.Site.NodeNames(), v.Site.Inventory.LeftOut)
		}
		for _, node := range want.nodes {
			if got := s.ProfileOf(node, p).Name; got != want.profile {
				t.Errorf("%s has profile %s", node, got)
			}
		}
	}
	left := s.Without([]string{"gpu-04"}).Views(p)
	if of := left[0].Site.Inventory; len(of.LeftOut) != 2 || len(of.Others) != 1 || of.Others[0].Name != "gpu-02" {
		t.Errorf("the nodes of no group leave out %v, of which %v are of another view", of.LeftOut, of.Others)
	}
	if of := left[0].Site.With(left[0].Site.Inventory.Others).Inventory; len(of.LeftOut) != 1 || len(of.Others) != 0 {
		t.Errorf("with the nodes of the other view: %v, %v", of.LeftOut, of.Others)
	}
	if got := left[1].Site.NodeNames(); !slices.Equal(got, []string{"gpu-02"}) {
		t.Errorf("without gpu-04 the group has %v", got)
	}
	if s.Groups = nil; len(s.Views(p)) != 1 || s.Views(p)[0].Site != s {
		t.Error("a site without groups is not its own view")
	}
}
