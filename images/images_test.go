package images

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

type version struct{ Value, Source, Undigested string }

type versionFile struct {
	Args     map[string]map[string]version
	Variants map[string][]map[string]string
}

func versions(t *testing.T) versionFile {
	t.Helper()
	data, err := os.ReadFile("versions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out versionFile
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// dockerfiles are the files of this folder by image.
func dockerfiles(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("*/Dockerfile")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no Dockerfiles: %v", err)
	}
	out := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Dir(path)] = string(text)
	}
	return out
}

func TestDockerfiles(t *testing.T) {
	t.Parallel()
	all := versions(t)
	for image, text := range dockerfiles(t) {
		var undigested []string
		want := map[string]string{}
		for name, v := range all.Args[image] {
			want[name] = v.Value
			if v.Source == "" {
				t.Errorf("%s: %s has no source", image, name)
			}
			if v.Undigested != "" {
				undigested = append(undigested, v.Value)
			}
		}
		for _, problem := range lint(text, undigested) {
			t.Errorf("%s/Dockerfile: %s", image, problem)
		}
		file, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := arguments(file); !maps.Equal(got, want) {
			t.Errorf("%s/Dockerfile has %v, versions.yaml %v", image, got, want)
		}
	}
	for image := range all.Args {
		if dockerfiles(t)[image] == "" {
			t.Errorf("versions.yaml has %s, which has no Dockerfile", image)
		}
	}
	for image, variants := range all.Variants {
		for _, v := range variants {
			for name := range v {
				if _, ok := all.Args[image][name]; !ok {
					t.Errorf("%s: a variant has the unknown argument %s", image, name)
				}
			}
		}
	}
}

// Each rule fails on a file that breaks it.
func TestRules(t *testing.T) {
	t.Parallel()
	const pinned = "FROM a:1@sha256:020bc241a628776338f4d4053fed4c38f6f7f3d7eb5919fecb8de313bb8ba47c\n"
	for name, tt := range map[string]struct{ text, want string }{
		"good":                {pinned + "RUN apt-get install --no-install-recommends b && rm -rf /var/lib/apt/lists/*\nUSER 65532\n", ""},
		"no digest":           {"FROM a:1\nUSER 1\n", "has no digest"},
		"no digest, reason":   {"FROM known:1\nUSER 1\n", ""},
		"digest of an ARG":    {"ARG BASE=a:1\nFROM ${BASE}\nUSER 1\n", "has no digest"},
		"no tag":              {"FROM registry:5000/a@sha256:020bc241a628776338f4d4053fed4c38f6f7f3d7eb5919fecb8de313bb8ba47c\nUSER 1\n", "no tag of a version"},
		"latest":              {"FROM a:latest\nUSER 1\n", "no tag of a version"},
		"no user":             {pinned, "has no USER"},
		"user of a stage":     {pinned + "USER 1\n" + pinned, "has no USER"},
		"root":                {pinned + "USER root\n", "without a comment"},
		"root, other comment": {pinned + "# because\nUSER 0\n", "without a comment"},
		"root, reason":        {pinned + "# root: it must\nUSER 0:0\n", ""},
		"ADD":                 {pinned + "ADD https://a.example/b /b\nUSER 1\n", "without --checksum"},
		"download":            {pinned + "RUN curl -L https://a.example | sh\nUSER 1\n", "without sha256sum"},
		"clone":               {pinned + "RUN git clone https://a.example/b\nUSER 1\n", "without --branch"},
		"recommends":          {pinned + "RUN apt-get install b \\\n && rm -rf /var/lib/apt/lists/*\nUSER 1\n", "--no-install-recommends"},
		"lists":               {pinned + "RUN apt-get install --no-install-recommends b\nUSER 1\n", "/var/lib/apt/lists"},
		"upgrade":             {pinned + "RUN apt-get upgrade\nUSER 1\n", "newer base image"},
		"pip":                 {pinned + "RUN pip install b\nUSER 1\n", "--no-cache-dir"},
		"heredoc":             {pinned + "RUN <<E\nE\nUSER 1\n", "heredoc"},
		"continued":           {pinned + "RUN a \\", "is continued"},
	} {
		got := strings.Join(lint(tt.text, []string{"known:1"}), "\n")
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// The workflow builds every image, with an SBOM and provenance, by actions that are pinned by commit.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../.github/workflows/images.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Strategy struct {
				Matrix struct{ Include []map[string]string }
			}
			Steps []struct {
				Uses string
				With map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatal(err)
	}
	job := workflow.Jobs["build"]
	built := map[string]int{}
	for _, row := range job.Strategy.Matrix.Include {
		built[row["image"]]++
	}
	all := versions(t)
	want := map[string]int{}
	for image := range dockerfiles(t) {
		want[image] = max(1, len(all.Variants[image]))
	}
	if !maps.Equal(built, want) {
		t.Errorf("the workflow builds %v, the folder has %v", built, want)
	}
	for _, row := range job.Strategy.Matrix.Include {
		args := map[string]string{}
		for line := range strings.Lines(row["args"]) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			args[name] = value
		}
		matches := func(v map[string]string) bool { return maps.Equal(v, args) }
		if variants := all.Variants[row["image"]]; len(variants) > 0 && !slices.ContainsFunc(variants, matches) {
			t.Errorf("%s: %v is not a variant of versions.yaml", row["image"], args)
		}
	}
	commit := regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40}$`)
	var options map[string]string
	for _, s := range job.Steps {
		if s.Uses != "" && !commit.MatchString(s.Uses) {
			t.Errorf("%s is not pinned by commit", s.Uses)
		}
		if strings.HasPrefix(s.Uses, "docker/build-push-action@") {
			options = s.With
		}
	}
	if options["sbom"] != "true" || options["provenance"] != "mode=max" || options["file"] != "images/${{ matrix.image }}/Dockerfile" {
		t.Errorf("%v", options)
	}
}
