package site_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
	"github.com/firstlight/firstlight/internal/site"
)

func TestSitesAreReadInLinearTime(t *testing.T) {
	const head = "apiVersion: firstlight/v1\nkind: Site\nname: a\nspine: kubernetes\nprofile: h100-sxm-ndr400\n"
	texts := append(growth.YAML(),
		growth.Text{Name: "unknown keys", Head: head, Again: "key{n}: 1\n"},
		growth.Text{Name: "nodes", Head: head + "inventory:\n  nodes:\n", Again: "  - {name: a{n}}\n"},
		growth.Text{Name: "nodes of one name", Head: head + "inventory:\n  nodes:\n", Again: "  - {name: a, address: b}\n"},
		growth.Text{Name: "nodes of a wrong type", Head: head + "inventory:\n  nodes:\n", Again: "  - {name: [a]}\n"},
		growth.Text{Name: "nodes that are wrong in two ways", Head: head + "inventory:\n  nodes:\n", Again: "  - {name: A B, naem: a}\n"},
		growth.Text{Name: "names of nodes that are wrong", Head: head + "inventory:\n  nodes:\n", Again: "  - {name: A B}\n"},
		growth.Text{Name: "unknown keys of nodes", Head: head + "inventory:\n  nodes:\n", Again: "  - {naem: a}\n"},
		growth.Text{Name: "nodes to confirm", Head: head + "inventory:\n  nodes:\n", Again: "  - {name: a{n}} # TODO: confirm {n}\n"},
		growth.Text{Name: "adapters", Head: head + "fabric:\n  hcas:\n", Again: "  - mlx5_{n}\n"},
		growth.Text{Name: "one adapter", Head: head + "fabric:\n  hcas:\n", Again: "  - mlx5_0\n"},
		growth.Text{Name: "switches", Head: head + "fabric:\n  switches:\n", Again: "  - a{n}\n"},
		growth.Text{Name: "subnets", Head: head + "fabric:\n  subnets:\n", Again: "  - {name: a{n}, hcas: [mlx5_{n}]}\n"},
		growth.Text{Name: "groups", Head: head + "groups:\n", Again: "- {name: a{n}, profile: h100-sxm-ndr400, nodes: [a{n}]}\n"},
		growth.Text{Name: "nodes of a group", Head: head + "groups:\n- name: a\n  nodes:\n", Again: "  - a{n}\n"},
		growth.Text{Name: "gates", Head: head + "notApplicable:\n", Again: "  a{n}: b\n"},
		growth.Text{Name: "preparations", Head: head + "prepare:\n", Again: "- {gate: gpustack, playbook: a}\n"},
		growth.Text{Name: "Redfish services", Head: head + "facility:\n  redfish:\n", Again: "  - {url: \"https://a{n}\"}\n"},
		growth.Text{Name: "charts", Head: head + "reach:\n  charts:\n", Again: "    a{n}: oci://b\n"},
	)
	growth.Linear(t, "a site", func(b []byte) { _, _ = site.Parse("a", b) }, texts...)
	growth.Linear(t, "a site over another", func(b []byte) { _, _ = site.Over([]byte(head), "a", b) }, texts...)
}
