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
app.kubernetes.io/name: {{ .Chart.Name | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "railhead.labels" -}}
{{ include "railhead.selectorLabels" . }}
{{ include "railhead.chartLabels" . }}
{{- end }}

{{- define "railhead.chartLabels" -}}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}

{{/* Of the DaemonSet that prepares nodes: what selects agents does not select its pods. */}}
{{- define "railhead.setupSelectorLabels" -}}
app.kubernetes.io/name: {{ printf "%s-setup" .Chart.Name | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "railhead.setupLabels" -}}
{{ include "railhead.setupSelectorLabels" . }}
{{ include "railhead.chartLabels" . }}
{{- end }}

{{- define "railhead.setupName" -}}
{{- printf "%s-setup" (include "railhead.fullname" .) }}
{{- end }}

{{/* Not empty where the API server holds a token to its own node. Before Kubernetes 1.30 it cannot, and whoever installs has to
accept that. */}}
{{- define "railhead.policies" -}}
{{- if semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version }}true
{{- else if not .Values.rightsWithoutPolicy }}
{{- fail (printf "Kubernetes %s has no ValidatingAdmissionPolicy, so the token of%s would hold for every node. Leave that off, or accept it by rightsWithoutPolicy=true" .Capabilities.KubeVersion.Version (include "railhead.rights" .)) }}
{{- end }}
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
