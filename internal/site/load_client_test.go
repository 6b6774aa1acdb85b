package site_test

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
)

func TestClientOfTheInferenceLoad(t *testing.T) {
	t.Parallel()
	const image = "    loadImage: registry.example.com/firstlight:dev\n"
	for name, tt := range map[string]struct{ keys, client, problem string }{
		"neither":                   {"", site.ClientMachine, ""},
		"an image":                  {image, site.ClientCluster, ""},
		"an image, and not used":    {image + "    client: machine\n", site.ClientMachine, ""},
		"the cluster, and no image": {"    client: cluster\n", "", "workloads.inference.loadImage"},
		"another place":             {"    client: laptop\n", "", "workloads.inference.client"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after, ok := strings.Cut(string(site.Example()), image)
			if !ok {
				t.Fatalf("the example has no %q", image)
			}
			s, err := site.Parse("s.yaml", []byte(before+tt.keys+after))
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || s.Workloads.Inference.Client != tt.client {
				t.Errorf("client %v, %v", s, err)
			}
		})
	}
}
