import{t as e}from"./documents-DXcblOLB.js";var t=e(`query Me {
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
}`),o=e(`mutation EnableTotp($input: EnableTotpInput!) {
  enableTotp(input: $input) {
    secret
    uri
  }
}`),s=e(`mutation ConfirmTotp($input: ConfirmTotpInput!) {
  confirmTotp(input: $input) {
    user {
      id
      otpMethod
    }
    recoveryCodes
  }
}`),c=e(`mutation DisableTotp($input: DisableTotpInput!) {
  disableTotp(input: $input) {
    user {
      id
      otpMethod
    }
  }
}`),l=e(`query Places {
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
}`),u=e(`mutation AcceptInvitation($input: AcceptInvitationInput!) {
  acceptInvitation(input: $input) {
    invitation {
      id
      status
    }
  }
}`),d=e(`mutation DeclineInvitation($input: DeclineInvitationInput!) {
  declineInvitation(input: $input) {
    invitation {
      id
      status
    }
  }
}`);export{c as a,l as c,n as d,d as i,i as l,a as n,o,s as r,t as s,u as t,r as u};