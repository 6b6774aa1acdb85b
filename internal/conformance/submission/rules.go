package submission

import (
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
)

// Rules is the catalogue of what is checked of a submission, beside its being
// readable: the programme's rules, then ours.
func Rules() []diag.Rule { return slices.Concat(theirs, ours) }

// The programme's rules.
//
// Source: https://github.com/cncf/k8s-ai-conformance/blob/122012f22d92383449f1fb9714e3873c9e417b45/scripts/validate.go
var (
	ruleMetadata    = diag.Rule{Name: "metadata-missing", Severity: diag.Error, Summary: "a key of metadata that must be there is not, or is empty", Remedy: "write it in the product file"}
	rulePlaceholder = diag.Rule{Name: "placeholder", Severity: diag.Error, Summary: "a value is still the checklist's placeholder", Remedy: "write what is true of the product"}
	ruleText        = diag.Rule{Name: "metadata-text", Severity: diag.Error, Summary: "a value of metadata is no text", Remedy: "put it in quotes"}
	ruleLogo        = diag.Rule{Name: "logo-format", Severity: diag.Error, Summary: "productLogoUrl is no vector graphic", Remedy: "link to an .svg, .eps or .ai file"}
	ruleConformance = diag.Rule{Name: "k8s-conformance-url", Severity: diag.Error, Summary: "k8sConformanceUrl is no directory of cncf/k8s-conformance", Remedy: "write https://github.com/cncf/k8s-conformance/tree/master/vX.Y/PRODUCT: a platform is certified for Kubernetes first"}
	ruleMember      = diag.Rule{Name: "member", Severity: diag.Error, Summary: "vendorName is no member in the CNCF landscape", Remedy: "write the organisation's name exactly as https://landscape.cncf.io/members has it"}
	ruleCategory    = diag.Rule{Name: "category-missing", Severity: diag.Error, Summary: "a category of the checklist is not there", Remedy: "add it with all its requirements, as the checklist has them"}
	ruleRequirement = diag.Rule{Name: "requirement-missing", Severity: diag.Error, Summary: "a requirement of the checklist is not there", Remedy: "add it as the checklist has it; a SHOULD may stay without a status"}
	ruleStatus      = diag.Rule{Name: "bad-status", Severity: diag.Error, Summary: "a status is none of the programme's four", Remedy: "write Implemented, Not Implemented, Partially Implemented or N/A"}
	ruleMust        = diag.Rule{Name: "must-implemented", Severity: diag.Error, Summary: "a MUST is not Implemented", Remedy: "make the platform fulfil it and run the conformance again: no other status is accepted of a MUST"}
	ruleNotes       = diag.Rule{Name: "notes-missing", Severity: diag.Error, Summary: "a requirement is N/A without notes", Remedy: "say why it does not apply to this platform; that it is not supported is no reason"}
	ruleFile        = diag.Rule{Name: "evidence-file", Severity: diag.Error, Summary: "a file of evidence is not there, or is empty", Remedy: "put it beside PRODUCT.yaml, or correct the path, which is relative to that"}
	ruleURL         = diag.Rule{Name: "url-unreachable", Severity: diag.Error, Summary: "an address does not answer", Remedy: "correct it, or publish the page: a reviewer has to be able to read it"}

	theirs = []diag.Rule{
		ruleMetadata, rulePlaceholder, ruleText, ruleLogo, ruleConformance, ruleMember, ruleCategory, ruleRequirement, ruleStatus, ruleMust, ruleNotes, ruleFile, ruleURL,
	}
)

// Our rules. The first three the programme's terms have too, but nothing there
// checks them.
var (
	ruleEdited     = diag.Rule{Name: "edited", Severity: diag.Error, Summary: "id, description or level is not as in the checklist", Remedy: "take it from the checklist, unedited"}
	ruleExtra      = diag.Rule{Name: "requirement-unknown", Severity: diag.Error, Summary: "a requirement that the category of this version does not have", Remedy: "remove it"}
	ruleNoEvidence = diag.Rule{Name: "no-evidence", Severity: diag.Error, Summary: "a requirement is said to be fulfilled, and nothing shows it", Remedy: "link what shows it"}
	ruleTwice      = diag.Rule{Name: "requirement-twice", Severity: diag.Error, Summary: "a requirement is there twice", Remedy: "keep one of them: which one counts depends on the reader"}
	ruleKeyTwice   = diag.Rule{Name: "metadata-twice", Severity: diag.Error, Summary: "a key of metadata is there in both spellings", Remedy: "keep one of them"}
	ruleAddress    = diag.Rule{Name: "not-an-address", Severity: diag.Error, Summary: "what should be an address is none", Remedy: "write it with https:// and a host"}
	ruleVersion    = diag.Rule{Name: "kubernetes-version", Severity: diag.Error, Summary: "kubernetesVersion is not that of the directory", Remedy: "submit what was shown on that version, in its directory"}
	ruleLayout     = diag.Rule{Name: "layout", Severity: diag.Error, Summary: "the directory is not vX.Y/PRODUCT of a version that there is a checklist for", Remedy: "put it where the programme has it: vX.Y/PRODUCT/PRODUCT.yaml"}
	ruleFileLink   = diag.Rule{Name: "file-link", Severity: diag.Error, Summary: "evidence is a file:// link", Remedy: "write the path relative to PRODUCT.yaml, without file:// and without #: the programme's validator takes a file:// link for the name of a file"}
	ruleOutside    = diag.Rule{Name: "evidence-outside", Severity: diag.Error, Summary: "evidence lies outside of the submission's directory", Remedy: "copy it beside PRODUCT.yaml"}
	ruleDraft      = diag.Rule{Name: "draft", Severity: diag.Error, Summary: "the submission is a draft, or a file of it is from one", Remedy: "make it anew, without --draft, from a whole run on real hardware"}

	ours = []diag.Rule{
		ruleEdited, ruleExtra, ruleNoEvidence, ruleTwice, ruleKeyTwice, ruleAddress, ruleVersion, ruleLayout, ruleFileLink, ruleOutside, ruleDraft,
	}
)
