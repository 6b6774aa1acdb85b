package criteria

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// SelfManaged is the canonical service of a cluster without a provider.
const SelfManaged = "generic"

// aliases are alternative names of values.
var aliases = map[Dimension]map[string]string{
	"service": {"self-managed": SelfManaged, "self": SelfManaged, "vanilla": SelfManaged},
	"os":      {"al2": "amazonlinux", "al2023": "amazonlinux"},
}

// known are common values. Overlays may add others.
var known = map[Dimension][]string{
	"service":     {"aks", "bcm", "eks", "generic", "gke", "k0s", "kind", "lke", "ocp", "oke", "rke2", "togetherai"},
	"accelerator": {"a100", "b200", "b300", "gb200", "gb300", "h100", "h200", "l4", "l40", "l40s", "rtx-pro-6000", "vr200"},
	"os":          {"amazonlinux", "cos", "rhel", "sles", "talos", "ubuntu"},
	"intent":      {"inference", "training"},
	"platform":    {"dynamo", "kubeflow", "kueue", "nim", "runai", "slurm"},
}

// Known returns the common values of a dimension.
func Known(d Dimension) []string { return slices.Clone(known[d]) }

// Normal returns c in lower case, with aliases replaced and any removed.
func (c Criteria) Normal() Criteria { return c.normal(aliases) }

// Open removes dimensions that are any and keeps the others unchanged, as aicr compares the
// criteria of overlays.
func (c Criteria) Open() Criteria {
	for _, field := range []*string{&c.Service, &c.Accelerator, &c.OS, &c.Intent, &c.Platform} {
		if *field == Any {
			*field = ""
		}
	}
	return c
}

func (c Criteria) normal(aliases map[Dimension]map[string]string) Criteria {
	for d, field := range map[Dimension]*string{
		"service": &c.Service, "accelerator": &c.Accelerator, "os": &c.OS, "intent": &c.Intent, "platform": &c.Platform,
	} {
		v := strings.ToLower(strings.TrimSpace(*field))
		if other, ok := aliases[d][v]; ok {
			v = other
		}
		if v == Any {
			v = ""
		}
		*field = v
	}
	return c
}

// Parse parses "service=eks,accelerator=h100"; spaces separate too. Aliases are kept, because
// their meaning depends on the tree.
func Parse(text string) (Criteria, error) {
	var c Criteria
	seen := map[string]bool{}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		name, value, ok := strings.Cut(part, "=")
		if !ok || value == "" {
			return Criteria{}, fmt.Errorf("invalid criterion %q: must be dimension=value, for example service=eks", part)
		}
		if seen[name] {
			return Criteria{}, fmt.Errorf("duplicate criterion %s", name)
		}
		seen[name] = true
		if err := c.set(name, value); err != nil {
			return Criteria{}, err
		}
	}
	if len(seen) == 0 {
		return Criteria{}, fmt.Errorf("criteria are required: write dimension=value, for example service=eks,accelerator=h100")
	}
	return c.normal(nil), nil
}

func (c *Criteria) set(name, value string) error {
	switch Dimension(name) {
	case "service":
		c.Service = value
	case "accelerator":
		c.Accelerator = value
	case "os":
		c.OS = value
	case "intent":
		c.Intent = value
	case "platform":
		c.Platform = value
	case "nodes":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return fmt.Errorf("invalid nodes=%s: must be a positive number", value)
		}
		c.Nodes = n
	default:
		return fmt.Errorf("unknown criterion %q: want service, accelerator, os, intent, platform or nodes", name)
	}
	return nil
}
