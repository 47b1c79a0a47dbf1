import{t as e}from"./documents-DNB0_T6U.js";var t=e(`query Me {
  me {
    email
    user {
      id
      databaseId
      name
      firstName
      lastName
      otpMethod
      version
    }
    customer {
      id
      databaseId
      name
      level
    }
    grants {
      application
      accountId
      roleName
      isOwner
      features
    }
  }
}`),n=e(`query Sessions {
  me {
    sessions {
      id
      createdAt
      lastUsedAt
      userAgent
      address
      current
    }
  }
}`),r=e(`mutation RevokeSession($input: RevokeSessionInput!) {
  revokeSession(input: $input) {
    session {
      id
    }
  }
}`),i=e(`mutation RevokeOtherSessions($input: RevokeOtherSessionsInput!) {
  revokeOtherSessions(input: $input) {
    sessions {
      id
    }
  }
}`),a=e(`mutation ChangePassword($input: ChangePasswordInput!) {
  changePassword(input: $input) {
    user {
      id
    }
  }
}`),o=e(`mutation RequestEmailChange($input: RequestEmailChangeInput!) {
  requestEmailChange(input: $input) {
    user {
      id
    }
  }
}`),s=e(`mutation EnableTotp($input: EnableTotpInput!) {
  enableTotp(input: $input) {
    secret
    uri
  }
}`),c=e(`mutation ConfirmTotp($input: ConfirmTotpInput!) {
  confirmTotp(input: $input) {
    user {
      id
      otpMethod
    }
    recoveryCodes
  }
}`),l=e(`mutation DisableTotp($input: DisableTotpInput!) {
  disableTotp(input: $input) {
    user {
      id
      otpMethod
    }
  }
}`),u=e(`query Places {
  me {
    user {
      id
      customers(first: 200) {
        nodes {
          id
          databaseId
          name
          level
        }
      }
    }
    invitations {
      id
      customer {
        id
        databaseId
        name
      }
      expiresAt
    }
  }
}`),d=e(`mutation AcceptInvitation($input: AcceptInvitationInput!) {
  acceptInvitation(input: $input) {
    invitation {
      id
      status
    }
  }
}`),f=e(`mutation DeclineInvitation($input: DeclineInvitationInput!) {
  declineInvitation(input: $input) {
    invitation {
      id
      status
    }
  }
}`);export{l as a,u as c,r as d,n as f,f as i,o as l,a as n,s as o,c as r,t as s,d as t,i as u};