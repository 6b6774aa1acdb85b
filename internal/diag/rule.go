package diag

import "fmt"

// Rule is one check of a file format.
type Rule struct {
	// Name identifies the rule in reports, such as "unknown-key".
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	// Summary describes in one line what the rule finds.
	Summary string `json:"summary"`
	// Remedy is the default advice; Problem.With replaces it.
	Remedy string `json:"remedy"`
}

// At returns a problem of this rule at a position.
func (r Rule) At(pos Pos, format string, args ...any) Problem {
	return Problem{Pos: pos, Rule: r.Name, Severity: r.Severity, Message: fmt.Sprintf(format, args...), Remedy: r.Remedy}
}

// Rules for a single file, whatever its format.
var (
	Unreadable    = Rule{"unreadable", Error, "file cannot be read", "check that the file exists, is a regular file and is readable"}
	Syntax        = Rule{"syntax", Error, "invalid YAML", "correct the YAML at this line; check quotes, indentation and colons first"}
	Document      = Rule{"document", Error, "file does not contain exactly one YAML document", "keep one document in a file"}
	UnknownKey    = Rule{"unknown-key", Error, "key that the format does not have", "correct or remove the key; it has no effect"}
	DuplicateKey  = Rule{"duplicate-key", Error, "key set twice in one mapping", "keep one of them; readers differ in which one they use"}
	WrongType     = Rule{"wrong-type", Error, "value of the wrong type", "write a value of the type that the message names"}
	Missing       = Rule{"missing", Error, "required key is missing or empty", "add the key"}
	BadValue      = Rule{"bad-value", Error, "value that the format does not allow", "write one of the values that the message names"}
	Unquoted      = Rule{"unquoted", Warning, "unquoted string that YAML reads as a number or boolean", "quote the value: other readers turn 1.20 into 1.2"}
	UnknownKind   = Rule{"unknown-kind", Error, "file of a kind that does not belong in its directory", "correct kind, or move the file to another directory"}
	APIGroup      = Rule{"api-group", Error, "apiVersion with a group that the format does not have", "write aicr.run/v1beta1"}
	FileExtension = Rule{"file-extension", Error, "file that is ignored because of its extension", "rename it so that it ends in .yaml"}
)

// FileRules are the rules above, in the order of the table.
var FileRules = []Rule{Unreadable, Syntax, Document, UnknownKey, DuplicateKey, WrongType, Missing, BadValue, Unquoted, UnknownKind, APIGroup, FileExtension}
