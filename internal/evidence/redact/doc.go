// Package redact takes secrets out of what was observed, before it is stored:
// bytes in, bytes out, and a mark where something was.
//
// It knows tokens by their form (JWT, bootstrap tokens, those of GitHub, GitLab,
// AWS, NGC, Hugging Face, Slack, Docker, Google, OpenAI, OpenShift), private keys
// (PEM, also base64-encoded), credentials by where they stand (Authorization
// headers, URLs, command lines, kubeconfigs, Docker configurations, netrc), the
// data of Secret objects (JSON, YAML), and environment variables whose name says
// secret, token, password or key.
//
// Invariants: valid JSON stays valid JSON, in the same layout; redaction is
// idempotent; text without a secret is not changed. Redaction does not prove that no
// secret is left: a secret of an unknown form, without a telling name next to it, stays.
package redact
