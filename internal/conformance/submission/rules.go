package submission

import "github.com/firstlight/firstlight/internal/diag"

// The program's rules.
//
// Source: https://github.com/cncf/k8s-ai-conformance/blob/122012f22d92383449f1fb9714e3873c9e417b45/scripts/validate.go
var (
	ruleMetadata    = diag.Rule{Name: "metadata-missing", Severity: diag.Error, Summary: "a required key of metadata is missing or empty", Remedy: "add it to the product file"}
	rulePlaceholder = diag.Rule{Name: "placeholder", Severity: diag.Error, Summary: "a value is still the checklist's placeholder", Remedy: "write the value of the product"}
	ruleText        = diag.Rule{Name: "metadata-text", Severity: diag.Error, Summary: "a value of metadata is not a string", Remedy: "quote it"}
	ruleLogo        = diag.Rule{Name: "logo-format", Severity: diag.Error, Summary: "productLogoUrl is not a vector graphic", Remedy: "link to an .svg, .eps or .ai file"}
	ruleConformance = diag.Rule{Name: "k8s-conformance-url", Severity: diag.Error, Summary: "k8sConformanceUrl is not a directory of cncf/k8s-conformance", Remedy: "write https://github.com/cncf/k8s-conformance/tree/master/vX.Y/PRODUCT: a platform is certified for Kubernetes first"}
	ruleMember      = diag.Rule{Name: "member", Severity: diag.Error, Summary: "vendorName is not a member in the CNCF landscape", Remedy: "write the organisation's name exactly as in https://landscape.cncf.io/members"}
	ruleCategory    = diag.Rule{Name: "category-missing", Severity: diag.Error, Summary: "a category of the checklist is missing", Remedy: "copy it with all its requirements from the checklist"}
	ruleRequirement = diag.Rule{Name: "requirement-missing", Severity: diag.Error, Summary: "a requirement of the checklist is missing", Remedy: "copy it from the checklist; a SHOULD may stay without a status"}
	ruleStatus      = diag.Rule{Name: "bad-status", Severity: diag.Error, Summary: "a status is not one of the program's four", Remedy: "write Implemented, Not Implemented, Partially Implemented or N/A"}
	ruleMust        = diag.Rule{Name: "must-implemented", Severity: diag.Error, Summary: "a MUST is not Implemented", Remedy: "make the platform meet the requirement and run the conformance checks again: the program accepts no other status of a MUST"}
	ruleNotes       = diag.Rule{Name: "notes-missing", Severity: diag.Error, Summary: "a requirement is N/A without notes", Remedy: "write in the notes why it does not apply to this platform; missing support is not a reason"}
	ruleFile        = diag.Rule{Name: "evidence-file", Severity: diag.Error, Summary: "a file of evidence is missing or empty", Remedy: "put it in the directory of PRODUCT.yaml, or correct the path, which is relative to that directory"}
	ruleURL         = diag.Rule{Name: "url-unreachable", Severity: diag.Error, Summary: "an address does not answer", Remedy: "correct it, or publish the page: a reviewer must be able to read it"}
)

// The rules of firstlight. The program's terms contain the first three as well, but its
// validator does not check them.
var (
	ruleEdited     = diag.Rule{Name: "edited", Severity: diag.Error, Summary: "id, description or level differs from the checklist", Remedy: "copy it from the checklist, unedited"}
	ruleExtra      = diag.Rule{Name: "requirement-unknown", Severity: diag.Error, Summary: "a requirement that the category of this version does not have", Remedy: "remove it"}
	ruleNoEvidence = diag.Rule{Name: "no-evidence", Severity: diag.Error, Summary: "a requirement is declared as fulfilled without evidence", Remedy: "link the evidence"}
	ruleTwice      = diag.Rule{Name: "requirement-twice", Severity: diag.Error, Summary: "a duplicate requirement", Remedy: "keep one of them: readers differ in which one they use"}
	ruleKeyTwice   = diag.Rule{Name: "metadata-twice", Severity: diag.Error, Summary: "a key of metadata in both spellings", Remedy: "keep one of them"}
	ruleAddress    = diag.Rule{Name: "not-an-address", Severity: diag.Error, Summary: "a value must be a URL", Remedy: "write a URL with https:// and a host"}
	ruleVersion    = diag.Rule{Name: "kubernetes-version", Severity: diag.Error, Summary: "kubernetesVersion is not that of the directory", Remedy: "submit the results of that version, in its directory"}
	ruleLayout     = diag.Rule{Name: "layout", Severity: diag.Error, Summary: "the directory is not vX.Y/PRODUCT of a version with a checklist", Remedy: "use the program's layout: vX.Y/PRODUCT/PRODUCT.yaml"}
	ruleFileLink   = diag.Rule{Name: "file-link", Severity: diag.Error, Summary: "evidence is a file:// link", Remedy: "write the path relative to PRODUCT.yaml, without file:// and without #: the program's validator reads a file:// link as the name of a file"}
	ruleOutside    = diag.Rule{Name: "evidence-outside", Severity: diag.Error, Summary: "evidence is outside of the submission's directory", Remedy: "copy it into the directory of PRODUCT.yaml"}
	ruleDraft      = diag.Rule{Name: "draft", Severity: diag.Error, Summary: "the submission is a draft, or a file of it is from one", Remedy: "write it again without --draft, from a complete run on real hardware"}
)
