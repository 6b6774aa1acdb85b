package lint

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// The written parts of SARIF 2.1.0.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID            string      `json:"id"`
		Short         sarifText   `json:"shortDescription"`
		Help          sarifText   `json:"help"`
		Configuration sarifConfig `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
)

// WriteSARIF writes the report as SARIF 2.1.0, with the catalogue of rules.
func (r Report) WriteSARIF(w io.Writer, version string) error {
	run := sarifRun{
		Tool:       sarifTool{Driver: sarifDriver{Name: "firstlight", Version: version, Rules: []sarifRule{}}},
		ColumnKind: "unicodeCodePoints", Results: []sarifResult{},
	}
	index := map[string]int{}
	for i, found := range rule.All() {
		index[found.Name] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: found.Name, Short: sarifText{found.Summary}, Help: sarifText{found.Remedy}, Configuration: sarifConfig{string(found.Severity)},
		})
	}
	for _, p := range r.Problems {
		message := p.Message
		if p.Remedy != "" {
			message += "\n" + p.Remedy
		}
		at := sarifPhysical{Artifact: sarifArtifact{URI: uri(p.File)}}
		if p.Line > 0 {
			at.Region = &sarifRegion{StartLine: p.Line, StartColumn: p.Column}
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: p.Rule, RuleIndex: index[p.Rule], Level: string(p.Severity), Message: sarifText{message}, Locations: []sarifLocation{{at}},
		})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	log := sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
	if err := enc.Encode(log); err != nil {
		return fmt.Errorf("write SARIF: %w", err)
	}
	return nil
}

// uri converts a path to a URI reference: relative to the working directory, or absolute.
func uri(file string) string {
	parts := strings.Split(file, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	escaped := strings.Join(parts, "/")
	if path.IsAbs(file) {
		return "file://" + escaped
	}
	return escaped
}
