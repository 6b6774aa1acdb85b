package footprint

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// object is an object of a manifest.
type object struct {
	kind, name, namespace string
	// pods is set if objects of the kind create pods.
	pods *podKind
	// text is set for a template with containers, which has no values before it is rendered.
	text bool
	all  map[string]any
	at   position
}

// ownManifests returns the objects with pods in a component's manifests. An object with a pod
// template of another kind is an error unless the footprint has the workloads that an operator
// creates from it.
func (b *builder) ownManifests(c *model.ComponentRef, f *Footprint) []object {
	var out []object
	for _, o := range b.objects(c) {
		switch {
		case o.pods != nil:
			out = append(out, o)
		case !o.text && !hasPodSpec(o.all) || f.declares(o.kind):
		case o.text:
			b.problems = append(b.problems, templateProblem(o.at.pos()))
		default:
			version, _ := o.all["apiVersion"].(string) // empty if not a string
			b.problems = append(b.problems, rule.Manifest.At(o.at.pos("kind"), "unknown workload %s of apiVersion %q: it has a pod template, and its pods are unknown", o.kind, version).
				With("add the pods that its operator creates to workloads of a footprint of %s, with createdBy: %[2]s; or, if it schedules no pods, withoutPods: [%[2]s]", c.Name, o.kind))
		}
	}
	return out
}

// UnknownPods reports whether a rendered object of the component creates unknown pods: it
// has a pod template, Kubernetes does not create its pods, and the footprint does not declare them.
func (f *Footprint) UnknownPods(group, kind string, object any) bool {
	return !CreatesPods(group, kind) && hasPodSpec(object) && !f.declares(kind)
}

// declares reports whether the footprint has the pods of objects of a kind, or states that
// they schedule none, or whether another object creates them.
func (f *Footprint) declares(kind string) bool {
	return slices.Contains(templateKinds, kind) || f != nil && (slices.Contains(f.Spec.WithoutPods, kind) ||
		slices.ContainsFunc(f.workloads, func(w workloadSpec) bool { return w.CreatedBy == kind }))
}

func templateProblem(at diag.Pos) diag.Problem {
	return rule.Manifest.At(at, "template with pods, which cannot be read without rendering").
		With("write it without {{ }}, or as a chart with a footprint")
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
	kindLine  = regexp.MustCompile(`(?m)^kind:\s*["']?(\w+)`)
	// containers matches a list of containers, or the mapping of one.
	containers = regexp.MustCompile(`(?m)^[\s-]*["']?(containers["']?:|(container|script)["']?:[ \t]*(\{|\r?$))`)
	written    = regexp.MustCompile(`(?m)^\s*[^#\s-]`)
)

// readManifest parses the objects of a manifest. It ignores templates without pods and reports
// those of kinds with pods.
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
			kind := ""
			if found := kindLine.FindSubmatch(text); found != nil {
				kind = string(found[1])
			}
			at := position{name: name, pos: func(...string) diag.Pos { return diag.Pos{File: name} }}
			if _, creates := podKinds[kind]; creates {
				problems = append(problems, templateProblem(at.pos()))
			} else if containers.Match(text) {
				out = append(out, object{kind: kind, text: true, at: at})
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
		all, wrong := doc.Map(rule.Manifest)
		problems = append(problems, wrong...)
		out = append(out, flatten(all, docAt(doc, name))...)
	}
	return out, problems
}

// flatten returns the object, or the items of a list.
func flatten(all map[string]any, at position) []object {
	text := func(keys ...string) string {
		s, _ := lookup(all, keys).(string) // empty if not a string
		return s
	}
	if items, ok := all["items"].([]any); ok && strings.HasSuffix(text("kind"), "List") {
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
	if k, creates := podKindOf(text("apiVersion"), o.kind); creates {
		o.pods = &k
	}
	return []object{o}
}
