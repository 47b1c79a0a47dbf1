{{- define "canopy.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "canopy.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "canopy.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "canopy.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The labels that never change; the component is added by whoever has one. */}}
{{- define "canopy.selector" -}}
app.kubernetes.io/name: {{ include "canopy.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "canopy.labels" -}}
{{ include "canopy.selector" . }}
app.kubernetes.io/version: {{ default .Chart.AppVersion .Values.image.tag | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "canopy.image" -}}
{{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) | quote }}
{{- end -}}

{{- define "canopy.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "canopy.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "canopy.secret" -}}
{{- default (include "canopy.fullname" .) .Values.existingSecret -}}
{{- end -}}

{{/* Names all settings that are missing, at once. */}}
{{- define "canopy.check" -}}
{{- $missing := list -}}
{{- if not .Values.settings.CANOPY_PUBLIC_URL -}}
{{- $missing = append $missing "settings.CANOPY_PUBLIC_URL" -}}
{{- end -}}
{{- if not .Values.existingSecret -}}
{{- range list "DATABASE_URL" "REDIS_URL" "CANOPY_SECRET_KEY" -}}
{{- if not (get $.Values.secrets .) -}}
{{- $missing = append $missing (printf "secrets.%s" .) -}}
{{- end -}}
{{- end -}}
{{- else if .Values.secrets -}}
{{- fail "existingSecret is used in place of secrets: put them into that Secret" -}}
{{- end -}}
{{- if and .Values.settings.CANOPY_REGION (not .Values.existingSecret) (not .Values.secrets.CANOPY_HOME_URL) -}}
{{- $missing = append $missing "secrets.CANOPY_HOME_URL" -}}
{{- end -}}
{{- if $missing -}}
{{- fail (printf "please set %s" (join ", " $missing)) -}}
{{- end -}}
{{- if not .Values.volumeMounts -}}
{{- range list .Values.settings .Values.secrets .Values.serve.settings .Values.worker.settings -}}
{{- if hasPrefix "file://" (get . "CANOPY_BLOB_URL" | trim) -}}
{{- fail "CANOPY_BLOB_URL is a folder, and nothing is mounted there: put a volume that all pods share into volumes and volumeMounts, or name a bucket" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What a setting of serve is, wherever it is set. */}}
{{- define "canopy.serveSetting" -}}
{{- $top := index . 0 -}}
{{- coalesce (get $top.Values.serve.settings (index . 1)) (get $top.Values.settings (index . 1)) (get $top.Values.secrets (index . 1)) (index . 2) -}}
{{- end -}}

{{- define "canopy.port" -}}
{{- regexFind "[0-9]+$" (include "canopy.serveSetting" (list . "CANOPY_LISTEN" ":8080")) -}}
{{- end -}}

{{/* CANOPY_DRAIN in seconds; the schema lets nothing through but minutes and seconds. */}}
{{- define "canopy.drain" -}}
{{- $drain := include "canopy.serveSetting" (list . "CANOPY_DRAIN" "5s") -}}
{{- $minutes := regexFind "[0-9]+m" $drain | trimSuffix "m" | int -}}
{{- $seconds := regexFind "[0-9]+s" $drain | trimSuffix "s" | int -}}
{{- add (mul 60 $minutes) $seconds -}}
{{- end -}}

{{/* What is the same in the pods of serve and worker: a list of the top and the component. */}}
{{- define "canopy.pod" -}}
{{- $top := index . 0 -}}
{{- $component := index . 1 -}}
{{- $own := get $top.Values $component -}}
enableServiceLinks: false
automountServiceAccountToken: false
serviceAccountName: {{ include "canopy.serviceAccount" $top }}
securityContext:
  {{- toYaml $top.Values.podSecurityContext | nindent 2 }}
{{- with $top.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  {{- if $own.topologySpreadConstraints }}
  {{- toYaml $own.topologySpreadConstraints | nindent 2 }}
  {{- else }}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "canopy.selector" $top | nindent 8 }}
        app.kubernetes.io/component: {{ $component }}
  {{- end }}
volumes:
  - name: temporary
    emptyDir: {sizeLimit: {{ $top.Values.temporary.sizeLimit | quote }}}
  {{- if $top.Values.webhookCA }}
  - name: webhook-ca
    configMap: {name: {{ include "canopy.fullname" $top }}-webhook-ca}
  {{- end }}
  {{- with $top.Values.volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* The same of their containers. */}}
{{- define "canopy.container" -}}
{{- $top := index . 0 -}}
{{- $own := get $top.Values (index . 1) -}}
image: {{ include "canopy.image" $top }}
imagePullPolicy: {{ $top.Values.image.pullPolicy }}
securityContext:
  {{- toYaml $top.Values.securityContext | nindent 2 }}
resources:
  {{- toYaml $own.resources | nindent 2 }}
envFrom:
  - configMapRef: {name: {{ include "canopy.fullname" $top }}}
  - secretRef: {name: {{ include "canopy.secret" $top }}}
env:
  - {name: XDG_CACHE_HOME, value: /tmp/cache}
  {{- if $top.Values.webhookCA }}
  - {name: CANOPY_WEBHOOK_CA, value: /etc/canopy/webhook-ca.pem}
  {{- end }}
  {{- range $name, $value := $own.settings }}
  - {name: {{ $name }}, value: {{ $value | quote }}}
  {{- end }}
  {{- /* What the pod is made for holds, whatever a Secret says that the chart does not see. */}}
  {{- if and $top.Values.existingSecret (eq (index . 1) "serve") }}
  {{- range $name, $default := dict "CANOPY_DRAIN" "5s" "CANOPY_LISTEN" ":8080" }}
  {{- if not (get $own.settings $name) }}
  - {name: {{ $name }}, value: {{ include "canopy.serveSetting" (list $top $name $default) | quote }}}
  {{- end }}
  {{- end }}
  {{- end }}
  {{- with $top.Values.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
volumeMounts:
  - {name: temporary, mountPath: /tmp}
  {{- if $top.Values.webhookCA }}
  - {name: webhook-ca, mountPath: /etc/canopy, readOnly: true}
  {{- end }}
  {{- with $top.Values.volumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* A change of settings starts the pods anew. */}}
{{- define "canopy.annotations" -}}
{{- $top := index . 0 -}}
checksum/settings: {{ list $top.Values.settings $top.Values.secrets $top.Values.webhookCA | toJson | sha256sum }}
{{- with (get $top.Values (index . 1)).podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Empty where one pod is all there may be: a budget would keep its node from being emptied. */}}
{{- define "canopy.several" -}}
{{- $least := .replicas -}}
{{- if .autoscaling.enabled -}}
{{- $least = .autoscaling.minReplicas -}}
{{- end -}}
{{- if gt (int $least) 1 -}}yes{{- end -}}
{{- end -}}
