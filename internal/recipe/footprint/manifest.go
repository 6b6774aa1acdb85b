package footprint

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// object is an object of a manifest.
type object struct {
	kind, name, namespace string
	all                   map[string]any
	at                    position
}

func makesPods(kind string) bool {
	switch kind {
	case "Deployment", daemonSet, "StatefulSet", "Job":
		return true
	default:
		return false
	}
}

// ownManifests returns the objects with pods in a component's manifests.
func (b *builder) ownManifests(c *model.ComponentRef) []object {
	var out []object
	for _, o := range b.objects(c) {
		if makesPods(o.kind) {
			out = append(out, o)
		}
	}
	return out
}

func (b *builder) objects(c *model.ComponentRef) []object {
	var out []object
	for _, file := range slices.Concat(c.PreManifestFiles, c.ManifestFiles) {
		file = path.Clean(file)
		name := b.r.Tree().Name(file)
		data, err := b.r.Tree().Data(file)
		if err != nil {
			b.problems = append(b.problems, rule.MissingFile.At(diag.Pos{File: name}, "%s", err))
			continue
		}
		objects, problems := readManifest(name, data)
		out = append(out, objects...)
		b.problems = append(b.problems, problems...)
	}
	return out
}

// manifest reports whether a manifest of the recipe has an object of the kind with a non-empty
// value at the path.
func (b *builder) manifest(kind string, keys []string) bool {
	if !b.asked {
		b.asked = true
		for i := range b.r.ComponentRefs {
			if c := &b.r.ComponentRefs[i]; c.Enabled() && !b.without[c.Name] {
				b.manifests = append(b.manifests, b.objects(c)...)
			}
		}
	}
	return slices.ContainsFunc(b.manifests, func(o object) bool { return o.kind == kind && !empty(lookup(o.all, keys)) })
}

var (
	separator = regexp.MustCompile(`(?m)^---([ \t\r].*)?$`)
	template  = []byte("{{")
	podKind   = regexp.MustCompile(`(?m)^kind:\s*["']?(Deployment|DaemonSet|StatefulSet|Job|CronJob|Pod)\b`)
	written   = regexp.MustCompile(`(?m)^\s*[^#\s-]`)
)

// readManifest parses the objects of a manifest. It ignores templates without pods and reports
// those with pods.
func readManifest(name string, data []byte) ([]object, diag.List) {
	var out []object
	var problems diag.List
	line := 0
	for _, part := range separator.Split(string(data), -1) {
		text := append(bytes.Repeat([]byte("\n"), line), part...) // keeps the line numbers of the file
		line += bytes.Count([]byte(part), []byte("\n"))
		if !written.MatchString(part) {
			continue
		}
		if bytes.Contains(text, template) {
			if podKind.Match(text) {
				problems = append(problems, rule.Manifest.At(diag.Pos{File: name}, "template with pods, which cannot be read without rendering").
					With("write it without {{ }}, or as a chart with a footprint"))
			}
			continue
		}
		doc, wrong := yamlstrict.Parse(name, text)
		if doc == nil {
			for _, p := range wrong {
				problems = append(problems, rule.Manifest.At(p.Pos, "%s", p.Message))
			}
			continue
		}
		all, wrong := doc.Map()
		problems = append(problems, wrong...)
		out = append(out, flatten(all, docAt(doc, name))...)
	}
	return out, problems
}

// flatten returns the object, or the items of a List.
func flatten(all map[string]any, at position) []object {
	text := func(keys ...string) string {
		s, _ := lookup(all, keys).(string) // empty if not a string
		return s
	}
	if items, ok := all["items"].([]any); ok && text("kind") == "List" {
		var out []object
		for i, item := range items {
			if one, ok := item.(map[string]any); ok {
				out = append(out, flatten(one, at.at("items", strconv.Itoa(i)))...)
			}
		}
		return out
	}
	o := object{kind: text("kind"), name: text("metadata", "name"), namespace: text("metadata", "namespace"), all: all, at: at}
	o.at.name = o.kind + " " + o.name
	return []object{o}
}
