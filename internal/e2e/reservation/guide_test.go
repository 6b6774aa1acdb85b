package reservation_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rows "github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
)

// The files that the team's guide shows are good ones, and the Deployment sets what its
// hooks are given.
func TestTeamGuide(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../docs/reservation-team.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for i, part := range strings.Split(string(raw), "```") {
		if text, ok := strings.CutPrefix(part, "yaml\n"); ok && i%2 == 1 {
			blocks = append(blocks, text)
		}
	}
	if len(blocks) != 2 {
		t.Fatalf("the guide shows %d files", len(blocks))
	}
	if r, err := rows.ParseRegistry("reservations.yaml", []byte(blocks[0])); err != nil || len(r.Daytime()) != 2 {
		t.Errorf("%v", err)
	}
	c, err := hook.Parse("hooks.yaml", []byte(blocks[1]))
	if err != nil {
		t.Fatal(err)
	}
	set := []string{"AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"} // by the service account
	set = append(set, environment(t)...)
	for _, h := range c.Hooks {
		for _, name := range h.Environment {
			if !slices.Contains(set, name) {
				t.Errorf("the hook of %s is given %s, which the Deployment does not set", h.Cloud, name)
			}
		}
	}
}

// environment of the Deployment's container.
func environment(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, u := range objects(t, "reservation-run.yaml") {
		containers, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "containers")
		for _, c := range containers {
			list, _, _ := unstructured.NestedSlice(c.(map[string]any), "env")
			for _, e := range list {
				out = append(out, e.(map[string]any)["name"].(string))
			}
		}
	}
	return out
}
