package resolve

import (
	"path"

	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

const registryFile = "registry.yaml"

// defaults sets fields that no layer set from the registry.
func (d *draft) defaults() {
	for name, c := range d.components {
		if entry, ok := d.tree.Components[name]; ok {
			d.fromRegistry(c, entry)
		}
		if d.compat {
			continue
		}
		if c.Type == "" {
			c.Type = model.Helm
			if c.Path != "" {
				c.Type = model.Kustomize
			}
		}
		if c.Type == model.Helm && c.Source != "" && c.Chart == "" {
			c.Chart = name // the default of every deployer
		}
	}
}

func (d *draft) fromRegistry(c *model.ComponentRef, entry *tree.Component) {
	l := layer{name: "registry", file: registryFile}
	keys := d.at("components", index(entry.Index))
	fill := func(have *string, key, value string, from ...string) {
		if *have == "" {
			d.text(have, value, l, d.at("components", c.Name, key), keys.with(from...))
		}
	}
	switch {
	case entry.Kustomize != nil:
		fill(&c.Type, "type", model.Kustomize, "kustomize")
	default:
		fill(&c.Type, "type", model.Helm, "helm")
	}
	switch k, h := entry.Kustomize, entry.Helm; {
	case c.Type == model.Kustomize && k != nil:
		fill(&c.Source, "source", k.DefaultSource, "kustomize", "defaultSource")
		fill(&c.Path, "path", k.DefaultPath, "kustomize", "defaultPath")
		fill(&c.Tag, "tag", k.DefaultTag, "kustomize", "defaultTag")
		fill(&c.Namespace, "namespace", k.DefaultNamespace, "kustomize", "defaultNamespace")
	case c.Type == model.Helm && h != nil:
		fill(&c.Source, "source", h.DefaultRepository, "helm", "defaultRepository")
		fill(&c.Version, "version", h.DefaultVersion, "helm", "defaultVersion")
		fill(&c.Namespace, "namespace", h.DefaultNamespace, "helm", "defaultNamespace")
		if h.DefaultChart != "" {
			fill(&c.Chart, "chart", path.Base(h.DefaultChart), "helm", "defaultChart")
		}
	case entry.Manifest != nil:
		fill(&c.Namespace, "namespace", entry.Manifest.DefaultNamespace, "manifest", "defaultNamespace")
	}
	if len(c.ManifestFiles) == 0 {
		d.join(&c.ManifestFiles, entry.ManifestFiles, l, d.at("components", c.Name, "manifestFiles"), keys.with("manifestFiles"))
	}
}
