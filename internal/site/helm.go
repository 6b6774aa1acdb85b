package site

import (
	"regexp"
	"strings"
)

var chartDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// Helm is a release to install or upgrade.
type Helm struct {
	Release string `yaml:"release" json:"release"`
	// Chart is a directory or an archive, an oci reference, or the name of a chart in Repository.
	Chart string `yaml:"chart" json:"chart"`
	// Repository is the URL of a chart repository.
	Repository string `yaml:"repository,omitempty" json:"repository,omitempty"`
	Version    string `yaml:"version" json:"version"`
	// Digest is the SHA-256 of the chart's archive: the chart's digest in the index of a repository, and that of
	// its layer in a registry (helm pull prints that of the manifest).
	Digest    string `yaml:"digest,omitempty" json:"digest,omitempty"`
	Namespace string `yaml:"namespace" json:"namespace"`
	// User and PasswordFile are for the repository or registry, CAFile is its certificate authority.
	User         string `yaml:"user,omitempty" json:"user,omitempty"`
	PasswordFile string `yaml:"passwordFile,omitempty" json:"passwordFile,omitempty"`
	CAFile       string `yaml:"caFile,omitempty" json:"caFile,omitempty"`
	// Values win over those of ValuesFiles, of which a later one wins; ValuesFile is the first.
	ValuesFile  string         `yaml:"valuesFile,omitempty" json:"valuesFile,omitempty"`
	ValuesFiles []string       `yaml:"valuesFiles,omitempty" json:"valuesFiles,omitempty"`
	Values      map[string]any `yaml:"values,omitempty" json:"values,omitempty"`
	// NoWait returns before the objects are ready. KeepFailed leaves a failed release as it is.
	NoWait     bool `yaml:"noWait,omitempty" json:"noWait,omitempty"`
	KeepFailed bool `yaml:"keepFailed,omitempty" json:"keepFailed,omitempty"`
}

// Reference is the chart by which a site names a mirror.
func (h *Helm) Reference() string {
	if h.Repository == "" {
		return h.Chart
	}
	return strings.TrimSuffix(h.Repository, "/") + "/" + h.Chart
}

// Files are the files of values, in the order in which they apply.
func (h *Helm) Files() []string {
	if h.ValuesFile == "" {
		return h.ValuesFiles
	}
	return append([]string{h.ValuesFile}, h.ValuesFiles...)
}

// chart refuses a chart that has two sources, and credentials that are incomplete or sent in clear.
func (v *validator) chart(path string, h *Helm) {
	isOCI := strings.HasPrefix(h.Chart, "oci://")
	source := h.Chart
	if h.Repository != "" {
		source = h.Repository
		if isOCI || strings.ContainsRune(h.Chart, '/') {
			v.add(path+".chart", "%q has its own source: must be a name in the repository, or remove repository", h.Chart)
		}
		if !strings.HasPrefix(h.Repository, "https://") && !strings.HasPrefix(h.Repository, "http://") {
			v.add(path+".repository", "%q is not an http or https URL; a chart in a registry is chart: oci://...", h.Repository)
		}
	}
	if h.Digest != "" && !chartDigest.MatchString(h.Digest) {
		v.add(path+".digest", "invalid digest %q: must be sha256: and 64 hexadecimal digits, as in the index of the repository, or by sha256sum of the archive", h.Digest)
	}
	switch {
	case (h.User == "") != (h.PasswordFile == ""):
		v.add(path, "needs both user and passwordFile, or neither")
	case h.User != "" && h.Repository == "" && !isOCI:
		v.add(path+".user", "is for a repository or registry: %q is a file", h.Chart)
	}
	if h.User != "" && strings.HasPrefix(source, "http://") {
		v.add(path+".repository", "sends credentials over plain http: use an https URL")
	}
}
