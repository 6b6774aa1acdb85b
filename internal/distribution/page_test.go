package distribution

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/golden"
)

const pageIntro = `# Kubernetes distributions

This page lists how [gate gpustack](gates/gpustack.md#distribution-and-versions) and ` + "`firstlight site detect`" + ` recognise the distribution of a node, and what differs. Generated from
` + "`internal/distribution/distributions.yaml`" + ` (` + "`go test ./internal/distribution -run TestPage -update`" + `); a test fails when it differs.

The kubelet's version takes precedence over the other marks; among these, the first row that matches applies. A node without one of these marks has no known distribution. An empty field is not known, or does not differ.
`

// page renders docs/distributions.md.
func page(list []Distribution) string {
	var b strings.Builder
	b.WriteString(pageIntro + "\n| distribution | mark | kubelet's log on a worker | on a control plane node | source |\n|---|---|---|---|---|\n")
	for _, d := range list {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", d.Name, d.Marks.text(), code(d.Logs.Agent), code(d.Logs.Server), linked(d.Marks.Source, d.Logs.Source))
	}
	b.WriteString("\n## Paths\n\n| distribution | kubelet | data | kubeconfig | CNI configuration | CNI programs | source |\n|---|---|---|---|---|---|---|\n")
	for _, d := range list {
		if p := d.Paths; p != (Paths{}) {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", d.Name, code(p.Kubelet), code(p.Data), code(p.Kubeconfig), code(p.CNIConfig), code(p.CNIBin), linked(p.Source))
		}
	}
	b.WriteString("\n## containerd\n\nThe GPU Operator's container toolkit needs these paths, where the distribution does not have the defaults `/run/containerd/containerd.sock` and `/etc/containerd`.\n\n" +
		"| distribution | `CONTAINERD_SOCKET` | `CONTAINERD_CONFIG` or, from GPU Operator v25.10.0 on, `RUNTIME_DROP_IN_CONFIG` below | its own build | source |\n|---|---|---|---|---|\n")
	for _, d := range list {
		if c := d.Containerd; c.Differs() {
			files := code(c.Config[0])
			if c.FindsRuntimes {
				files += ", or neither: it finds the toolkit's runtimes when it starts"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", d.Name, code(strings.Join(c.Sockets, ", ")), files, code(c.Example), linked(c.Source))
		}
	}
	b.WriteString("\n## Versions\n\nA kubelet may be three minor versions older than the API server, [by the policy of Kubernetes](https://kubernetes.io/releases/version-skew-policy).\n\n" +
		"| distribution | minor versions | kubelets of control plane nodes | source |\n|---|---|---|---|\n")
	for _, d := range list {
		if s := d.Skew; s != (Skew{}) {
			of := "those of the nodes"
			if s.ServerNodes {
				of = "have the versions of the API servers"
			}
			fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", d.Name, s.MaxOlder(since), of, linked(s.Source))
		}
	}
	return b.String()
}

func (m Marks) text() string {
	switch {
	case m.Kubelet != "":
		return "kubelet version " + code(m.Kubelet) + ", such as " + code(m.Example)
	case m.OSImage != "":
		return "OS image " + code(m.OSImage) + ", such as " + code(m.Example)
	case m.Label != "":
		return "label " + code(m.Label)
	default:
		return "annotation " + code(m.Annotation)
	}
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
}

// linked are sources, as text.
func linked(sources ...string) string {
	var out []string
	for _, s := range sources {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "; ")
}

func TestPage(t *testing.T) {
	t.Parallel()
	list, err := all()
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "../../docs/distributions.md", page(list))
}
