{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{- define "railhead.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "railhead.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains (include "railhead.name" .) .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "railhead.name" .) | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "railhead.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "railhead.labels" -}}
{{ include "railhead.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}

{{/* Which options need rights at the API server. */}}
{{- define "railhead.rights" -}}
{{- range $option := list "startupTaint" "events" "nodeConditions" }}
{{- if (index $.Values $option).enabled }} {{ $option }}.enabled{{ end }}
{{- end }}
{{- end }}

{{- define "railhead.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "railhead.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- $more := printf "%s%s" (include "railhead.rights" .) (ternary " openshift.enabled" "" .Values.openshift.enabled) }}
{{- if and $more (has .Values.serviceAccount.name (list "" "default")) }}
{{- fail (printf "serviceAccount.create is false and serviceAccount.name names no account of the agent's own:%s would give its rights to the account default, which is every pod's of the namespace that names no other" $more) }}
{{- end }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* Of objects that are in no namespace. */}}
{{- define "railhead.clusterName" -}}
{{- printf "%s-%s" .Release.Namespace (include "railhead.fullname" .) }}
{{- end }}

{{- define "railhead.image" -}}
{{- with .Values.image }}
{{- if .digest }}
{{- printf "%s@%s" .repository .digest }}
{{- else }}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}
{{- end }}
{{- end }}
{{- end }}

{{/* A mount that is only read. Below it may be other file systems (/sys/fs/cgroup), which such a mount covers from
Kubernetes 1.31 on. */}}
{{- define "railhead.readOnly" -}}
readOnly: true
{{- if semverCompare ">=1.31.0-0" .Capabilities.KubeVersion.Version }}
recursiveReadOnly: IfPossible
{{- end }}
{{- end }}
