package criteria_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/recipe/criteria"
)

func TestMatchIsAsymmetric(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name           string
		overlay, query criteria.Criteria
		want           bool
	}{
		{"open matches anything", criteria.Criteria{}, criteria.Criteria{Service: "eks", Nodes: 4}, true},
		{"open matches open", criteria.Criteria{}, criteria.Criteria{}, true},
		{"equal", criteria.Criteria{Service: "eks"}, criteria.Criteria{Service: "eks"}, true},
		{"a stated overlay is not for an open query", criteria.Criteria{Service: "eks", Accelerator: "h100"}, criteria.Criteria{Service: "eks"}, false},
		{"another value", criteria.Criteria{Service: "eks"}, criteria.Criteria{Service: "gke"}, false},
		{"any is open in the overlay", criteria.Criteria{Service: "any", OS: "ubuntu"}, criteria.Criteria{Service: "gke", OS: "Ubuntu"}, true},
		{"any is open in the query", criteria.Criteria{OS: "ubuntu"}, criteria.Criteria{OS: "any"}, false},
		{"nodes equal", criteria.Criteria{Nodes: 8}, criteria.Criteria{Nodes: 8}, true},
		{"nodes differ", criteria.Criteria{Nodes: 8}, criteria.Criteria{Nodes: 9}, false},
		{"nodes open in the query", criteria.Criteria{Nodes: 8}, criteria.Criteria{}, false},
		{"alias", criteria.Criteria{OS: "al2023"}, criteria.Criteria{OS: "amazonlinux"}, true},
		{"self-managed is a service of its own", criteria.Criteria{Service: "self-managed"}, criteria.Criteria{Service: "eks"}, false},
		{"and has one name", criteria.Criteria{Service: "vanilla"}, criteria.Criteria{Service: "generic"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.overlay.Normal().Matches(tt.query.Normal()); got != tt.want {
				t.Errorf("%s matches %s: %v", tt.overlay, tt.query, got)
			}
		})
	}
}

func TestUnsetIsAny(t *testing.T) {
	t.Parallel()
	unset := criteria.Criteria{Service: "eks"}.Normal()
	written := criteria.Criteria{Service: "EKS ", Accelerator: "any", OS: "Any", Intent: "any", Platform: "any"}.Normal()
	if unset != written || unset.Specificity() != 1 || written.Specificity() != 1 {
		t.Errorf("%q has specificity %d, %q has %d", unset, unset.Specificity(), written, written.Specificity())
	}
}

func TestLegacyTakesSelfManagedForAny(t *testing.T) {
	t.Parallel()
	c := criteria.Criteria{Service: "self-managed", OS: "al2"}
	if got := c.Legacy(); got != (criteria.Criteria{OS: "amazonlinux"}) {
		t.Errorf("legacy is %q", got)
	}
	if got := c.Normal(); got.Service != criteria.SelfManaged {
		t.Errorf("legacy changed the aliases: %q", got)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	want := criteria.Criteria{Service: "eks", Accelerator: "h100", Nodes: 4}
	for _, text := range []string{"service=eks,accelerator=h100,nodes=4", "nodes=4 accelerator=H100  service=eks", want.String()} {
		if got, err := criteria.Parse(text); err != nil || got != want {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "eks", "service=", "gpu=h100", "nodes=many", "nodes=-1", "service=eks,service=gke"} {
		if got, err := criteria.Parse(text); err == nil {
			t.Errorf("%q is %q", text, got)
		}
	}
}

func TestGetAndWithoutKnowEveryDimension(t *testing.T) {
	t.Parallel()
	full := criteria.Criteria{Service: "a", Accelerator: "b", OS: "c", Intent: "d", Platform: "e", Nodes: 6}
	if n := len(full.Stated()); n != len(criteria.Dimensions()) || full.Specificity() != n {
		t.Errorf("%d dimensions are stated, specificity %d", n, full.Specificity())
	}
	for _, d := range criteria.Dimensions() {
		if got := full.Without(d); got.Get(d) != "" || got.Specificity() != 5 {
			t.Errorf("without %s: %s", d, got)
		}
		if got := full.Contradicts(full.Without(d)); got != "" {
			t.Errorf("an open %s contradicts", got)
		}
	}
	if got := full.Contradicts(criteria.Criteria{Intent: "x"}); got != "intent" {
		t.Errorf("contradicts in %q", got)
	}
}
