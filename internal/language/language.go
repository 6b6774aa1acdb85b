package language

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed patterns.yaml
var patternsFile []byte

// Pattern is one pattern that plain text does not have.
type Pattern struct {
	Name   string   `json:"name"`
	Expr   string   `json:"expr"`
	Reason string   `json:"reason"`
	Allow  []string `json:"allow"`
	// Examples match the pattern; Plain does not.
	Examples []string `json:"examples"`
	Plain    []string `json:"plain"`

	expr     *regexp.Regexp
	literals []string
	allow    []*regexp.Regexp
}

// Match is one occurrence of a pattern.
type Match struct {
	File    string
	Line    int
	Text    string
	Pattern *Pattern
}

func (m Match) String() string {
	return fmt.Sprintf("%s:%d: %q: %s: %s", m.File, m.Line, m.Text, m.Pattern.Name, m.Pattern.Reason)
}

// Data is a file with text of other programs, to which no pattern applies.
type Data struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

type patternFile struct {
	Data     []Data     `json:"data"`
	Patterns []*Pattern `json:"patterns"`
}

func load() (patternFile, error) {
	var file patternFile
	if err := yaml.UnmarshalStrict(patternsFile, &file); err != nil {
		return file, fmt.Errorf("read patterns.yaml: %w", err)
	}
	return file, nil
}

// Patterns loads the embedded patterns.
func Patterns() ([]*Pattern, error) {
	file, err := load()
	if err != nil {
		return nil, err
	}
	for _, p := range file.Patterns {
		if p.Name == "" || p.Reason == "" || len(p.Examples) == 0 || len(p.Plain) == 0 {
			return nil, fmt.Errorf("read patterns.yaml: pattern %q: name, reason, examples and plain are required", p.Name)
		}
		var err error
		if p.expr, err = compile(p.Expr); err != nil {
			return nil, fmt.Errorf("read patterns.yaml: pattern %q: %w", p.Name, err)
		}
		p.literals = literals(p.Expr)
		for _, a := range p.Allow {
			expr, err := compile(a)
			if err != nil {
				return nil, fmt.Errorf("read patterns.yaml: pattern %q: %w", p.Name, err)
			}
			p.allow = append(p.allow, expr)
		}
	}
	return file.Patterns, nil
}

func compile(expr string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(`(?i)` + expr)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	return re, nil
}

// find is the first match of p in text that is not allowed, empty where there is none.
func (p *Pattern) find(text string) string {
	if p.literals != nil {
		lower := strings.ToLower(text)
		if !slices.ContainsFunc(p.literals, func(l string) bool { return strings.Contains(lower, l) }) {
			return ""
		}
	}
	for _, at := range p.expr.FindAllStringIndex(text, -1) {
		if !p.allowed(text, at) {
			return text[at[0]:at[1]]
		}
	}
	return ""
}

func (p *Pattern) allowed(text string, at []int) bool {
	for _, a := range p.allow {
		for _, ok := range a.FindAllStringIndex(text, -1) {
			if ok[0] <= at[0] && at[1] <= ok[1] || at[0] <= ok[0] && ok[1] <= at[1] {
				return true
			}
		}
	}
	return false
}

// Check finds the patterns in texts. Sentences are matched as they are in the file, line by
// line; a line that ends within a sentence is joined with the next one of the same text.
func Check(patterns []*Pattern, texts []Text) []Match {
	var out []Match
	for _, t := range texts {
		for _, s := range t.sentences() {
			for _, p := range patterns {
				if found := p.find(s.content); found != "" {
					out = append(out, Match{File: t.File, Line: s.line, Text: found, Pattern: p})
				}
			}
		}
	}
	return out
}
